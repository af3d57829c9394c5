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
document.querySelectorAll("table.sortable").forEach((table) => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, i) => {
    head.tabIndex = 0;
    head.onclick = () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      sort(table, i, down);
    };
    head.onkeydown = (event) => event.key === "Enter" && head.onclick();
  });
});

const filters = document.querySelector(".filters");
if (filters) {
  const table = document.getElementById("rows"), rows = [...table.tBodies[0].rows], { text, paper, kind, verdict, sort: by } = filters.elements;
  const words = rows.map((row) => row.textContent.toLowerCase());
  const show = () => {
    const asked = text.value.toLowerCase();
    rows.forEach((row, i) => {
      row.hidden = !words[i].includes(asked) || [paper, kind, verdict].some((one) => one.value && row.dataset[one.name] !== one.value);
    });
    filters.querySelector("output").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  };
  [...table.tHead.rows[0].cells].forEach((head, i) => by.add(new Option(head.textContent, i)));
  by.onchange = () => by.value ? sort(table, +by.value, false) : table.tBodies[0].append(...rows);
  filters.onsubmit = (event) => event.preventDefault();
  filters.oninput = show;
  show();
}

document.querySelectorAll("aside > details").forEach((box) => { box.open = innerWidth > 760; });

// A link to what lies in a closed box opens it.
const open = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let box = target && target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
};
addEventListener("hashchange", open);
open();
