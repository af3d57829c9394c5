"""The pages, without a browser: nothing is fetched, every link leads somewhere, every row has its evidence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from cutlayer.ledger import overview
from cutlayer.site import documents, exhibit_sections

from .conftest import CLAIMS, PAPERS, write
from .links import broken, read


def text(site: Path, page: str) -> str:
    """What a page says."""
    html = re.sub(r"<script.*?</script>", "", (site / page).read_text(), flags=re.S)
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_every_link_leads_somewhere_and_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    assert {"index.html", "rows.html", "data.html", "docs/README.html"} | {f"{name}.html" for name in PAPERS} <= set(
        read(site)
    )
    assert not broken(site)
    for file in (site / "assets").iterdir():
        assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest", file.read_text()), file


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<p id="a"><a href="#a"><a href="#b"><a href="x.html"><img src="https://x.org/y">'
    )
    assert len(broken(tmp_path)) == 3


def test_the_first_screen_has_each_paper_with_its_main_claims_and_a_sign_for_each_dataset(site: Path) -> None:
    said = text(site, "index.html")
    for entry in PAPERS["marvell"]["main"]:
        assert entry["text"] in said
    assert "Bank 2 holds" not in said  # one verdict is said once
    assert re.search(r"✓ Bank holds", said)
    assert re.search(r"✗ Bank fails", said)
    assert re.search(r"○ Robot stand-in", said)
    assert "Wine ours" in said
    assert "--config scale=reference" in said


def test_the_first_screen_has_the_finding_in_words_of_the_readme_and_its_picture(first: Path) -> None:
    page = first.read_text()
    before_the_board = page.partition('id="board"')[0]
    assert f'id="finding">{documents.finding("README.md")}</p>' in before_the_board
    (link, picture) = re.findall(r'<a class="picture" href="([^"]+)"><img src="([^"]+)"', before_the_board)[0]
    assert link == "arena.html#exhibit-bounds"
    assert (first.parent / picture).read_bytes() == Path("docs/bounds.png").read_bytes()


def test_without_the_picture_of_the_finding_the_first_screen_says_why(site: Path) -> None:
    page = (site / "index.html").read_text()
    assert "The finding is of the arena's reference run, which this site does not have." in page
    assert "bounds.png" not in page


def test_a_card_says_what_leaks_with_its_interval(site: Path) -> None:
    said = text(site, "index.html")
    assert re.search(r"What leaks 0\.5\d+ \(0\.\d+ to 0\.\d+\) leak under marvell; Bank, real, 3 seeds", said)


def test_the_ledger_is_as_short_as_the_first_screen(made: Path) -> None:
    ledger = (made / "results/ledger.md").read_text()
    assert all(entry["text"] in ledger for entry in PAPERS["marvell"]["main"])
    assert len(ledger.splitlines()) < 60
    assert not any(claim["text"] in ledger for claim in CLAIMS.values())


def test_every_row_is_listed_and_leads_to_its_exhibit(made: Path) -> None:
    claims = pd.read_csv(made / "results/claims.csv", keep_default_na=False)
    rows = re.findall(r"<tr[^>]* data-verdict.*?</tr>", (made / "site/rows.html").read_text(), flags=re.S)
    assert len(rows) == len(claims)
    assert sum('.html#exhibit-figure1"' in row for row in rows) == (claims["exhibit"] == "figure1").sum() > 0
    for row in rows:
        assert re.search(r'class="chip [\w-]+', row)
        assert re.search(r'data-label="rule">\S', row)
    assert {word for row in rows for word in re.findall(r'data-verdict="([^"]*)"', row)} == {
        overview.plain(word) for word in claims["verdict"]
    }


def test_a_paper_has_its_claims_by_datasets_and_each_exhibit_with_how_to_make_it(site: Path) -> None:
    said = text(site, "marvell.html")
    for claim in CLAIMS.values():
        assert claim["text"] in said
    assert "snakemake --cores all results/exhibits/marvell/figure1.png" in said
    assert "test AUC of none" in said
    assert "stand-in: robot" in said
    assert "3 seeds" in said
    assert (site / "exhibits/marvell/figure1.csv").exists()


def test_an_exhibit_that_is_a_table_is_one_on_its_page_and_no_picture(site: Path) -> None:
    page = (site / "marvell.html").read_text()
    section = page.partition('id="exhibit-table1"')[2].partition("</section>")[0]
    assert "<img" not in section
    assert not (site / "exhibits/marvell/table1.png").exists()
    assert '<th scope="col">setup</th><th scope="col" class="stay">scheme</th>' in section
    assert '<th scope="col" class="n">test AUC</th>' in section
    assert '<th scope="row">Bank</th><th scope="row" class="stay">none</th>' in section
    assert re.search(r'<td class="n">0\.\d+ <small>(±|\()', section)
    assert re.search(r"<caption><span>scale quick · .* · 3 seeds, 95% intervals · real: bank, wine;", section)
    assert "results/exhibits/marvell/table1.md</code>" in section


@pytest.mark.parametrize(
    ("text", "number", "interval", "below"),
    [
        ("0.79 (0.12 to 0.99); repeated +2", "0.79", "(0.12 to 0.99)", ["repeated +2"]),
        ("89.1 ± 1.5; paper 92.27 (-3.2)", "89.1", "± 1.5", ["paper 92.27 (-3.2)"]),
        ("96.9 (96 to 97) / 76.5 ± 1.6", "96.9 / 76.5", "(96 to 97) / ± 1.6", []),
        ("41,188", "41,188", "", []),
        ("1, 3, 10", "1, 3, 10", "", []),
        ("– [1]", "– [1]", "", []),
        ("", "", "", []),
    ],
)
def test_a_cell_of_a_table_is_a_number_its_interval_and_what_is_below(
    text: str, number: str, interval: str, below: list[str]
) -> None:
    assert exhibit_sections._cell(text) == {"number": number, "interval": interval, "below": below}


def test_a_picture_has_its_size_so_that_what_is_below_stays_where_a_link_leads(site: Path) -> None:
    page = (site / "marvell.html").read_text()
    width, height = Image.open(site / "exhibits/marvell/figure1.png").size
    assert f'exhibits/marvell/figure1.png" alt="Utility against leak" width="{width}" height="{height}"' in page


def test_errata_name_the_test_and_readings_the_other_ways(site: Path) -> None:
    said = text(site, "marvell.html")
    assert "A sign is reversed &amp; &lt;wrong&gt;. shown by pytest tests/theory/test_errata.py::" in said
    assert "Whether scores are rounded." in said
    assert "here all digits. As printed. else to two digits" in said
    assert "Readings" not in text(site, "arena.html")


def test_the_points_of_a_trade_off_say_defense_setting_numbers_and_attack(site: Path) -> None:
    (told,) = re.findall(
        r'<script type="application/json">(.*?)</script>', (site / "marvell.html").read_text(), flags=re.S
    )
    points = json.loads(told)
    assert [panel["attack"] for panel in points["panels"]] == ["norm"] * 3
    series = {one["name"]: one for one in points["panels"][0]["series"]}
    assert set(series) == {"none", "marvell", "iso"}
    assert [point["setting"] for point in series["marvell"]["points"]] == ["sum_kl=0.1", "sum_kl=0.2"]
    first = series["none"]["points"][0]
    assert first["x"] > 0.9 > 0.5 < first["y"]
    assert first["seeds"] == 3


def test_data_say_where_they_come_from_and_how_to_get_them(site: Path) -> None:
    said = text(site, "data.html")
    assert "https://archive.ics.uci.edu/ml/machine-learning-databases/00222/bank-additional.zip" in said
    assert "74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8" in said
    assert "CC BY 4.0" in said


def test_the_same_results_give_the_same_bytes_and_what_is_no_page_goes(site: Path, tmp_path: Path) -> None:
    write(tmp_path)
    stale = tmp_path / "site/old.html"
    stale.write_text("old")
    files = {str(file.relative_to(site)): file.read_bytes() for file in site.rglob("*") if file.is_file()}
    again = {
        str(f.relative_to(tmp_path / "site")): f.read_bytes() for f in (tmp_path / "site").rglob("*") if f.is_file()
    }
    assert again.pop("old.html")
    assert again == files
