"""The appendix for artifact committees: what its tables say is what the reference has, and each command exists."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
from tests.params import params

from cutlayer.reference import appendix, kick

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / appendix.PAGE).read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_reference() -> None:
    assert appendix.filled(TEXT, ROOT) == TEXT, "`make docs` writes them again"


def test_each_table_has_its_place_once() -> None:
    assert [place[1] for place in appendix.PLACE.findall(TEXT)] == ["time and disk", "main claims", "limits"]


def test_every_paper_is_an_experiment() -> None:
    assert {*re.findall(r"^\*\*(\w+)\*\*, by `make results SCALE=reference PAPERS=\1`:$", TEXT, flags=re.M)} == {
        *params()["papers"]
    }


def test_hours_are_those_of_all_runs_of_a_paper_at_a_scale() -> None:
    runs = pd.DataFrame(
        {"paper": "a", "scale": "quick", "machine": ["x", "y", "x"], "cores": 2, "hours": [1.0, 2.0, 4.0]}
    )
    seconds = pd.DataFrame(
        {"scale": ["quick", "quick", "paper"], "setup": ["s", "t", "s"], "pieces": 10, "megabytes": 50}
    )
    *_, row = appendix.experiments(runs, seconds, {"a": {"exhibits": {"table1": {"setups": ["s"]}, "proof": {}}}})
    assert row == "| a, quick | `make results SCALE=quick PAPERS=a` | 7.0 | x, cores: 2; y, cores: 2 | 0.5 GB (s) |"


def test_the_basic_test_prints_what_is_expected() -> None:
    rows = len(kick.ITEMS) * len(kick.SETUPS)
    assert f"```text\n{rows} of {rows} rows agree.\nagrees\n```" in TEXT
