"""The basic test of an artifact: a run agrees with itself, and not once a verdict, a number or a row is another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml

from cutlayer.reference import kick

ROOT = Path(__file__).parents[2]
EXPECTED = pd.read_csv(ROOT / kick.EXPECTED)
ERRS = EXPECTED.index[EXPECTED["item"] == "lemma1"][0]


def test_what_is_expected_agrees_with_itself_and_a_row_that_is_only_found_does_not_count() -> None:
    more = pd.concat([EXPECTED, EXPECTED.head(1).assign(item="newer")])
    table = kick.beside(EXPECTED, more)
    assert len(table) == len(EXPECTED)
    assert table["agrees"].all()
    assert kick.report(table).splitlines()[-1] == "agrees"


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.drop(ERRS),
        lambda found: found.assign(verdict=found["verdict"].where(found.index != ERRS, "refuted")),
        lambda found: found.assign(**{n: found[n] + (found.index == ERRS) * 0.2 for n in ("ours", "low", "high")}),
    ],
    ids=["a row", "a verdict", "a number"],
)
def test_one_row_that_is_another_differs(change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    table = kick.beside(EXPECTED, change(EXPECTED))
    assert list(table.index[~table["agrees"]]) == [ERRS]
    assert kick.report(table).splitlines()[-1] == "differs"


def test_rounding_agrees() -> None:
    moved = {name: EXPECTED[name] + 1e-9 for name in ("ours", "low", "high")}
    assert kick.beside(EXPECTED, EXPECTED.assign(**moved))["agrees"].all()


def test_only_data_that_need_no_download_are_expected() -> None:
    setups = yaml.safe_load((ROOT / "params.yaml").read_text())["setups"]
    assert {setups[name]["dataset"] for name in EXPECTED["setup"]} == {"wine", "breast_cancer"}
