"""The site of the reference run beside that of your own: each leads to the other, and without one nothing changes."""

from __future__ import annotations

import gzip
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from cutlayer.core.artifacts import write_rows
from cutlayer.reference import published
from cutlayer.site import build, side_by_side
from cutlayer.site.inputs import claims

from .conftest import PAPERS, ROOT, STYLES, sources
from .links import broken, read
from .test_pages import text

RUN = {
    "run": "1", "paper": "marvell", "scale": "quick", "seeds": "5", "commit": "abc123", "date": "2026-01-02",
    "machine": "A machine", "cores": "2", "hours": "3.50", "versions": "Python 3.11",
}  # fmt: skip
GONE = "table1"  # an exhibit that the published run does not have


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A reference of one of the two papers, without one of its exhibits."""
    shutil.copytree(made / "results/exhibits/marvell", tmp_path / "reference/exhibits/marvell")
    (tmp_path / "reference/cells/marvell").mkdir(parents=True)
    for cells in (made / "results/cells/marvell").glob("*.csv"):
        packed = tmp_path / f"reference/cells/marvell/{cells.name}{published.PACKED}"
        packed.write_bytes(gzip.compress(cells.read_bytes()))
    shutil.copytree(made / "normalised", tmp_path / "reference/data")
    shutil.copy(made / "results/claims.csv", tmp_path / "reference")
    (tmp_path / f"reference/exhibits/marvell/{GONE}.md").unlink()
    write_rows(tmp_path / "reference" / published.RUNS, [RUN])
    monkeypatch.chdir(ROOT)
    return tmp_path


@pytest.mark.parametrize(("code", "changed"), [("of then", True), ("of now", False), ("", False)])
def test_a_reference_run_of_other_code_says_so(code: str, changed: bool, made: Path, folder: Path) -> None:
    write_rows(folder / "reference" / published.RUNS, [RUN | {"code": code}])
    _, inner = side_by_side.both(sources(made), folder / "reference", ["quick"])
    assert inner.other.summaries["marvell"].endswith("has changed since.") == changed


@pytest.mark.parametrize("cores", [1, 2])
def test_both_sites_lead_to_each_other_and_say_what_the_reference_is(cores: int, made: Path, folder: Path) -> None:
    own, inner = side_by_side.both(sources(made), folder / "reference", ["quick"])
    stray = [folder / "site/stray.html", folder / "site" / side_by_side.INNER / "stray.html"]
    for file in stray:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    side_by_side.write(own, inner, folder / "site", cores)
    assert not any(file.exists() for file in stray)
    assert not broken(folder / "site")
    pages = read(folder / "site")
    assert {name for name in pages if name.startswith("reference/")} == {
        f"reference/{name}.html" for name in ("index", "marvell", "rows", "data")
    }
    for page in ("index.html", "marvell.html"):
        assert "At scale quick, on 2026-01-02: Of " in text(folder / "site", page)
        assert "Commit abc123, 2026-01-02, 3.50 hours on A machine, 2 cores" in text(folder / "site/reference", page)
        assert f"reference/{page}" in pages[page].links
        assert f"../{page}" in pages[f"reference/{page}"].links
    assert "At scale quick, on" not in text(folder / "site", "arena.html")
    assert all("reference/index.html" in pages[name].links[: len(PAPERS) + 5] for name in ("arena.html", "rows.html"))


def test_the_first_page_has_the_evidence_first_and_your_run_in_one_panel(made: Path, folder: Path) -> None:
    table = pd.read_csv(folder / "reference/claims.csv", keep_default_na=False, dtype=str)
    moved = table.index[(table["paper"] == "marvell") & (table["exhibit"] == "figure1") & (table["high"] != "")][0]
    table.loc[moved, ["ours", "low", "high"]] = "9"
    table.to_csv(folder / "reference/claims.csv", index=False)
    own, inner = side_by_side.both(sources(made), folder / "reference", ["quick"])
    side_by_side.write(own, inner, folder / "site", 1)
    page, said = (folder / "site/index.html").read_text(), text(folder / "site", "index.html")
    board = re.findall(r'<th scope="row"><a href="([^"]+)".*?aria-label="([^"]+)"', page, flags=re.S)
    assert [link for link, _ in board] == ["reference/marvell.html", "arena.html"]
    rows = (len(claims(inner)), (claims(own)["paper"] == "arena").sum())
    assert [sum(map(int, re.findall(r"\d+", counts))) for _, counts in board] == [*rows]
    assert 'src="reference/exhibits/marvell/figure1.png"' in page
    assert "Rows that do not agree (1)" in said
    assert 'id="yours"' not in (folder / "site/reference/index.html").read_text()


def test_a_reference_that_cannot_be_written_is_an_error_and_the_site_before_stays(made: Path, folder: Path) -> None:
    own, inner = side_by_side.both(sources(made), folder / "reference", ["quick"])
    (folder / "reference/exhibits/marvell/figure1.png").unlink()  # which its own site alone reads
    (folder / "site").mkdir()
    (folder / "site/index.html").write_text("the site before")
    with pytest.raises(RuntimeError, match="the site of the reference run was not written"):
        side_by_side.write(own, inner, folder / "site", 2)
    assert [file.read_text() for file in (folder / "site").iterdir()] == ["the site before"]
    assert not [*folder.glob(".site.*")]


def test_a_defense_that_the_catalog_has_no_more_is_still_drawn(made: Path, folder: Path) -> None:
    _, inner = side_by_side.both(replace(sources(made), styles={}), folder / "reference", ["quick"])
    assert inner is not None
    build.write(inner, folder / "site")
    for name in STYLES:
        assert f'"name": "{name}", "color": "#' in (folder / "site/marvell.html").read_text()


def test_rows_of_what_the_reference_does_not_have_are_not_in_its_site(made: Path, folder: Path) -> None:
    _, inner = side_by_side.both(sources(made), folder / "reference", ["quick"])
    assert inner is not None
    shown = claims(inner)
    everything = pd.read_csv(folder / "reference/claims.csv", keep_default_na=False)
    assert set(shown["paper"]) == {"marvell"}
    assert GONE in set(everything["exhibit"])
    assert GONE not in set(shown["exhibit"])


def test_without_a_reference_the_site_is_what_it_was(made: Path, tmp_path: Path) -> None:
    given = sources(made)
    assert side_by_side.both(given, tmp_path / "reference", []) == (given, None)
