"""The site in a real browser: every page, wide and on a phone, light and dark, is clicked through without an error."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from tests.conftest import without_slurm

from .browser import Browser, Unavailable, installed, started
from .links import read

PHONE, DESK = 390, 1440
# What is wider than the screen, unless what holds it can be scrolled.
TOO_WIDE = """
[...document.querySelectorAll("body *")].filter((e) => {
  const box = e.getBoundingClientRect(), edge = document.documentElement.clientWidth + 1;
  if (!box.width || !box.height || box.right <= edge) return false;
  for (let up = e.parentElement; up; up = up.parentElement)
    if (getComputedStyle(up).overflowX === "auto" && up.getBoundingClientRect().right <= edge) return false;
  return true;
}).slice(0, 3).map((e) => `${e.tagName}.${e.className}: ${e.textContent.trim().slice(0, 60)}`)
"""
# Text that does not fit into its own box; the choices of a list are cut by the list itself.
CROWDED = """
[...document.querySelectorAll("body *:not(select)")].filter((e) =>
  e.clientWidth && e.scrollWidth > e.clientWidth + 1 && !["auto", "scroll"].includes(getComputedStyle(e).overflowX)
).slice(0, 3).map((e) => `${e.tagName}.${e.className}: ${e.textContent.trim().slice(0, 60)}`)
"""
# What axe finds of impact serious or critical: the rule, and where.
AXE = """
axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations
  .filter((one) => ["serious", "critical"].includes(one.impact))
  .flatMap((one) => one.nodes.slice(0, 3).map((node) => `${one.id}: ${node.target}: ${node.failureSummary}`)))
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium; what it brings and what SLURM brings could not be told apart if both came and went at once."""
    try:
        with without_slurm(tmp_path_factory), installed() as path, started(path) as browser:
            yield browser
    except Unavailable as reason:
        pytest.skip(str(reason))


def pages(site: Path) -> list[str]:
    """Every page, each once, as a reader reaches them: by links from the first."""
    known, found = read(site), ["index.html"]
    for page in found:
        for link in known[page].links:
            target = (Path(page).parent / link.partition("#")[0]).as_posix() if not link.startswith("#") else page
            target = str(Path(*_without_dots(target)))
            if target in known and target not in found:
                found.append(target)
    return found


def _without_dots(path: str) -> list[str]:
    parts: list[str] = []
    for part in path.split("/"):
        parts = parts[:-1] if part == ".." else [*parts, part]
    return parts


def test_every_page_is_reached_from_the_first(site: Path) -> None:
    assert set(pages(site)) == set(read(site))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_every_page_loads_without_an_error_a_request_elsewhere_or_text_that_overflows(site, browser, width, scheme):
    browser.resize(width)
    browser.prefer(scheme)
    for page in pages(site):
        browser.open((site / page).as_uri())
        browser.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
        browser.evaluate("document.querySelectorAll('img').forEach((one) => { one.loading = 'eager'; })")
        browser.evaluate("Promise.all([...document.images].map((one) => one.decode()))")
        browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert not browser.wrong, page
        assert browser.evaluate("document.documentElement.scrollWidth") <= width, page
        assert browser.evaluate(TOO_WIDE) == [], page
        assert browser.evaluate(CROWDED) == [], page


@pytest.mark.parametrize(("width", "tall"), [(DESK, 900), (PHONE, 1600)])
def test_the_first_screen_has_sentence_picture_and_the_first_row_of_the_board(first, browser, width, tall):
    browser.resize(width)
    browser.open(first.as_uri())
    browser.evaluate("document.querySelector('.first > .picture img').decode()")  # others are lazy: below the screen
    for part in ("#finding", ".first > .picture img", "#board tbody tr"):
        ends = browser.evaluate(f"document.querySelector('{part}').getBoundingClientRect().bottom")
        assert 0 < ends < tall, part
    assert browser.evaluate(TOO_WIDE) == []


def kinds(site: Path) -> list[str]:
    """The pages of the site's own folder, and of each other folder its first page and one more."""
    known = pages(site)
    deep = {(Path(page).parent, Path(page).name == "index.html"): page for page in known if "/" in page}
    return [*(page for page in known if "/" not in page), *deep.values()]


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, which looks for what keeps people from a page who hear or type it."""
    return (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(("scheme", "width"), [("light", DESK), ("dark", PHONE)])
def test_no_kind_of_page_has_a_serious_or_critical_finding_of_axe(site, browser, axe, scheme, width):
    browser.resize(width)
    browser.prefer(scheme)
    found = {}
    for page in kinds(site):
        browser.open((site / page).as_uri())
        browser.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
        browser.evaluate(axe)
        found[page] = browser.evaluate(AXE)
    assert {page: findings for page, findings in found.items() if findings} == {}


def test_axe_finds_what_is_serious(tmp_path, browser, axe):
    page = tmp_path / "serious.html"
    page.write_text(
        '<html lang="en"><title>x</title><main><h1>x</h1><img src="data:,"><p style="color: #ccc">pale</p></main>'
    )
    browser.open(page.as_uri())
    browser.evaluate(axe)
    assert {one.partition(":")[0] for one in browser.evaluate(AXE)} == {"image-alt", "color-contrast"}


def test_a_page_that_is_wrong_is_found_out(tmp_path, browser):
    page = tmp_path / "wrong.html"
    page.write_text(
        '<meta name="viewport" content="width=device-width"><img src="gone.png"><img src="http://example.org/x.png">'
        f"<p>{'W' * 400}</p><div style='width: 600px'>wide</div><script>no()</script>"
    )
    browser.resize(PHONE)
    browser.open(page.as_uri())
    told = " ".join(browser.wrong)
    assert "gone.png" in told or "ERR_FILE_NOT_FOUND" in told
    assert "http://example.org" in told
    assert "no is not defined" in told
    assert browser.evaluate("document.documentElement.scrollWidth") > PHONE
    assert [one.partition(".")[0] for one in browser.evaluate(TOO_WIDE)] == ["DIV"]
    assert "P" in {one.partition(".")[0] for one in browser.evaluate(CROWDED)}


def test_links_are_followed_and_a_link_to_an_exhibit_shows_it(site, browser):
    browser.resize(DESK)
    browser.open((site / "index.html").as_uri())
    browser.follow("document.querySelector('.card h2 a').click()")
    assert browser.evaluate("location.pathname").endswith("marvell.html")
    browser.evaluate("document.querySelector('.matrix .cell').click()")
    assert browser.evaluate("Math.abs(document.querySelector(location.hash).getBoundingClientRect().top)") < 200


def test_rows_are_filtered_and_sorted(site, browser):
    browser.open((site / "rows.html").as_uri())
    shown = "[...document.querySelectorAll('#rows tbody tr')].filter((row) => !row.hidden)"
    every = browser.evaluate(f"{shown}.length")
    browser.evaluate("{ const one = document.querySelector('[name=verdict]'); one.value = 'fails'; "
                     "one.dispatchEvent(new Event('input', { bubbles: true })); }")  # fmt: skip
    verdicts = browser.evaluate(f"{shown}.map((row) => row.dataset.verdict)")
    assert 0 < len(verdicts) < every
    assert set(verdicts) == {"fails"}
    browser.evaluate("{ const one = document.querySelector('[name=verdict]'); one.value = ''; "
                     "one.dispatchEvent(new Event('input', { bubbles: true })); }")  # fmt: skip
    ours = f"{shown}.map((row) => parseFloat(row.cells[4].textContent)).filter((value) => !isNaN(value))"
    browser.evaluate("document.querySelectorAll('#rows th')[4].click()")
    rising = browser.evaluate(ours)
    browser.evaluate("document.querySelectorAll('#rows th')[4].click()")
    assert rising == sorted(rising) == browser.evaluate(ours)[::-1]


def test_filters_and_order_are_in_the_address_and_come_back_from_it(site, browser):
    browser.open((site / "rows.html").as_uri())
    browser.evaluate("{ const one = document.querySelector('[name=verdict]'); one.value = 'fails'; "
                     "one.dispatchEvent(new Event('input', { bubbles: true })); }")  # fmt: skip
    browser.evaluate("for (const _ of [1, 2]) document.querySelectorAll('#rows th')[4].click()")
    address = browser.evaluate("location.href")
    assert address.endswith("#verdict=fails&sort=-5")
    shown = "[...document.querySelectorAll('#rows tbody tr')].filter((row) => !row.hidden).map((row) => row.id)"
    before = browser.evaluate(shown)
    browser.open("about:blank")
    browser.open(address)
    assert browser.evaluate(shown) == before != []
    assert browser.evaluate("document.querySelector('[name=verdict]').value") == "fails"
    assert not browser.wrong


def test_a_row_has_an_address_and_bibtex(site, browser):
    browser.open((site / "rows.html").as_uri())
    browser.evaluate("document.querySelectorAll('#rows .address')[3].click()")
    target = browser.evaluate("document.querySelector('tr:target').id")
    browser.evaluate("document.querySelector('tr:target .cite').click()")
    entry = browser.evaluate("document.querySelector('#cite textarea').value")
    assert entry.startswith(f"@misc{{cutlayer-{target},")
    assert f"rows.html#{target}}}" in entry
    assert entry.count("{") == entry.count("}")
    browser.ask("Input.dispatchKeyEvent", type="keyDown", key="Escape", code="Escape", windowsVirtualKeyCode=27)
    assert not browser.evaluate("document.getElementById('cite').open")


def test_a_point_says_what_it_is_under_the_pointer(site, browser):
    browser.resize(DESK)
    browser.open((site / "marvell.html").as_uri())
    browser.evaluate("document.querySelector('.hover').open = true; new Promise((done) => setTimeout(done, 500))")
    place = browser.evaluate("""(() => {
      const chart = Chart.getChart(document.querySelector(".hover canvas")), box = chart.canvas;
      box.scrollIntoView({ block: "center", behavior: "instant" });
      const point = chart.getDatasetMeta(1).data[0], at = box.getBoundingClientRect();
      return { x: at.x + point.x, y: at.y + point.y };
    })()""")
    browser.ask("Input.dispatchMouseEvent", type="mouseMoved", **place)
    browser.evaluate("new Promise((done) => setTimeout(done, 300))")
    said = browser.evaluate("""(Chart.getChart(document.querySelector(".hover canvas")).tooltip.body || [])
      .flatMap((one) => one.lines)""")
    assert said[0] == "marvell, sum_kl=0.1"
    assert said[1].startswith("leak AUC")
    assert said[3] == "attack norm, 3 seeds"
    assert not browser.wrong


def test_the_button_turns_light_into_dark_and_the_next_page_remembers(site, browser):
    color = "getComputedStyle(document.body).backgroundColor"
    browser.prefer("light")
    browser.open((site / "index.html").as_uri())
    light = browser.evaluate(color)
    browser.evaluate("document.getElementById('theme').click()")
    dark = browser.evaluate(color)
    assert dark != light
    browser.open((site / "data.html").as_uri())
    assert browser.evaluate(color) == dark
    browser.evaluate("document.getElementById('theme').click()")
