// Theme, sorting, filtering. Pages can be read without it.
const theme = document.getElementById("theme"), root = document.documentElement;
const remembered = { get: () => { try { return localStorage.theme; } catch { return ""; } }, set: (to) => { try { localStorage.theme = to; } catch {} } };
if (remembered.get()) root.dataset.theme = remembered.get();
theme.onclick = () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  remembered.set(root.dataset.theme = dark ? "light" : "dark");
};
document.querySelectorAll("body > header a").forEach((link) => {
  if (link.pathname === location.pathname) link.setAttribute("aria-current", "page");
});

// A cell's sort key: its first number, or else its text.
const key = (row, i) => {
  const text = row.cells[i].textContent.trim(), number = parseFloat(text.replaceAll(",", ""));
  return { text, number };
};
function sort(table, i, down) {
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => {
    const x = key(a, i), y = key(b, i);
    if (!x.text || !y.text) return !x.text - !y.text; // empty ones last
    const order = Number.isNaN(x.number) || Number.isNaN(y.number) ? x.text.localeCompare(y.text) : x.number - y.number;
    return down ? -order : order;
  });
  table.tBodies[0].append(...rows);
}
function order(table, i, down) {
  [...table.tHead.rows[0].cells].forEach((head, j) => {
    if (j === i) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  sort(table, i, down);
  table.dispatchEvent(new CustomEvent("ordered", { detail: down ? -1 - i : 1 + i }));
}
document.querySelectorAll("table.sortable").forEach((table) => {
  [...table.tHead.rows[0].cells].forEach((head, i) => {
    head.tabIndex = 0;
    head.onclick = () => order(table, i, head.getAttribute("aria-sort") === "ascending");
    head.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      head.onclick();
    };
  });
});

// Filters and order of a table, both in the page's address: #verdict=fails&sort=-5 (column 5, falling).
const filters = document.querySelector(".filters");
if (filters) {
  const table = document.getElementById("rows"), rows = [...table.tBodies[0].rows], fields = [...filters.elements].filter((one) => one.name && one.name !== "sort");
  const words = rows.map((row) => row.textContent.toLowerCase()), by = filters.elements.sort;
  let sorted = "";
  const show = () => {
    const asked = (filters.elements.text?.value || "").toLowerCase();
    rows.forEach((row, i) => {
      row.hidden = !words[i].includes(asked) || fields.some(({ name, value }) => name !== "text" && value && !row.dataset[name].split("|").includes(value));
    });
    filters.querySelector("output").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  };
  const remember = () => {
    const state = new URLSearchParams(fields.filter((one) => one.value).map((one) => [one.name, one.value]));
    if (sorted) state.set("sort", sorted);
    history.replaceState(null, "", `#${state}`);
  };
  const restore = () => {
    if (!location.hash.includes("=")) return show();
    const state = new URLSearchParams(location.hash.slice(1)), at = Number(state.get("sort"));
    fields.forEach((one) => { one.value = state.get(one.name) || ""; });
    if (at) order(table, Math.abs(at) - 1, at < 0);
    show();
  };
  table.addEventListener("ordered", ({ detail }) => {
    sorted = detail;
    if (by) by.value = Math.abs(detail);
    remember();
  });
  if (by) {
    [...table.tHead.rows[0].cells].forEach((head, i) => by.add(new Option(head.textContent, i + 1)));
    by.onchange = () => {
      if (by.value) return order(table, by.value - 1, false);
      table.tBodies[0].append(...rows);
      sorted = "";
      remember();
    };
  }
  filters.onsubmit = (event) => event.preventDefault();
  filters.oninput = (event) => {
    if (event.target === by) return;
    show();
    remember();
  };
  addEventListener("hashchange", restore);
  restore();
}

// BibTeX of a row, selected and, where the browser allows it, copied.
const cite = document.getElementById("cite");
if (cite) {
  const plain = (cell) => [...cell.childNodes].filter((node) => node.nodeName !== "A").map((node) => node.textContent.trim()).filter(Boolean).join(", ");
  const tex = (text) => text.replace(/[\\{}]/g, "").replace(/[&%$#_]/g, "\\$&").replace(/\s+/g, " ");
  document.querySelectorAll("button.cite").forEach((button) => {
    button.onclick = () => {
      const row = button.closest("tr"), cells = [...row.cells].map(plain), today = new Date().toISOString().slice(0, 10);
      const lines = [
        `@misc{cutlayer-${row.id},`, "  author = {{The cutlayer developers}},",
        `  title = {{${tex(`${row.dataset.paper}: ${cells[1]} On ${cells[2]}`)}}},`,
        `  note = {${tex(`${row.dataset.verdict}; ours: ${cells[4] || "none"}; cutlayer ${cite.dataset.version}`)}},`,
        `  url = {${location.href.split("#")[0]}#${row.id}},`, `  year = {${today.slice(0, 4)}},`, `  urldate = {${today}},`, "}",
      ];
      const box = cite.querySelector("textarea");
      box.value = lines.join("\n");
      cite.showModal();
      box.select();
      navigator.clipboard?.writeText(box.value).catch(() => {});
    };
  });
}

document.querySelectorAll("aside > details").forEach((box) => { box.open = innerWidth > 760; });

// A link to what lies in a closed box opens it.
const open = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let box = target && target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
};
addEventListener("hashchange", open);
open();
