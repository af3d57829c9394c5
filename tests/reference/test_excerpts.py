"""Excerpts of published tables in documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutlayer.core.errors import InputError
from cutlayer.reference import excerpts

ROOT = Path(__file__).parents[2]
CELLS = "setup,dataset,provenance\ncriteo,criteo,sample\nwine,wine,real\n"
TABLE = """**title**

| setup | scheme | leak | kept |
|:--|:--|:--|:--|
| criteo | none | 1.000 (0.997 to 1.000); norm | 1.000 |
| criteo | dp | 0.510 ± 0.020; norm +1 | |
| wine | none | 0.900 ± 0.010; norm | 1.000 |
| wine | dp | -0.100 ± 0.100; norm | 0.200 |
| wine | iso | 0.700 ± 0.100; norm | 0.500 |
"""
PLACE = "Text.\n\n[//]: # ({} of arena leaks on criteo, wine)\nold\n[//]: # (end of excerpt)\n\nMore.\n"


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    folder = tmp_path / "exhibits/arena"
    folder.mkdir(parents=True)
    (folder / "leaks.md").write_text(TABLE)
    (folder / "leaks.csv").write_text(CELLS)
    return tmp_path


def test_schemes_that_all_setups_have_are_side_by_side_the_least_first(reference: Path) -> None:
    once = excerpts.filled(PLACE.format("leak, kept"), reference)
    lines = [line for line in once.splitlines() if line.startswith("|")]
    assert lines[2:] == ["| dp | 0.510 ± 0.020, - | -0.100 ± 0.100, 0.200 |",
                         "| none | 1.000 (0.997 to 1.000), 1.000 | 0.900 ± 0.010, 1.000 |"]  # fmt: skip
    assert "(sample)" in lines[0]
    assert once.startswith("Text.")
    assert once.endswith("More.\n")
    assert excerpts.filled(once, reference) == once


def test_a_column_that_the_table_does_not_have_is_named(reference: Path) -> None:
    with pytest.raises(
        InputError, match=r"excerpts\.lost: is no column of this table; one of setup, scheme, leak, kept"
    ):
        excerpts.filled(PLACE.format("lost"), reference)


def test_excerpts_of_the_documents_are_of_the_reference() -> None:
    text = (ROOT / "docs/arena.md").read_text(encoding="utf-8")
    assert "(end of excerpt)" in text
    assert excerpts.filled(text, ROOT / "reference") == text, "`make docs` writes them again"
