"""The basic test of an artifact: the reference agrees with itself, and not once a number or a row is another."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml

from cutlayer.reference import kick, published

ROOT = Path(__file__).parents[2]
REFERENCE = kick.rows(ROOT / published.FOLDER / "claims.csv")
ERRS = REFERENCE.index[REFERENCE["item"] == "rcc1_near_rcc2"][0]


def test_every_row_is_in_the_reference_once_with_a_number() -> None:
    assert sorted(map(tuple, REFERENCE[kick.KEY].to_numpy())) == sorted(itertools.product(kick.ITEMS, kick.SETUPS))
    assert REFERENCE["ours"].notna().all()


def test_the_reference_agrees_with_itself_and_a_row_that_is_only_found_does_not_count() -> None:
    more = pd.concat([REFERENCE, REFERENCE.head(1).assign(item="newer")])
    table = kick.beside(more, REFERENCE)
    assert len(table) == len(REFERENCE)
    assert table["agrees"].all()
    assert kick.report(table).splitlines()[-1] == "agrees"


def test_what_is_zero_but_for_rounding_agrees_however_it_was_rounded() -> None:
    zero = REFERENCE["item"] == "theorem1_rcc2"
    half = REFERENCE.assign(**{name: REFERENCE[name] / (1 + zero) for name in ("ours", "low", "high")})
    assert (half["ours"] != REFERENCE["ours"]).any()
    assert kick.beside(half, REFERENCE)["agrees"].all()


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.drop(ERRS),
        lambda found: found.assign(ours=found["ours"].where(found.index != ERRS)),
        lambda found: found.assign(**{n: found[n] + (found.index == ERRS) * 0.2 for n in ("ours", "low", "high")}),
    ],
    ids=["a row", "no number", "a number"],
)
def test_one_row_that_is_another_differs(change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    table = kick.beside(change(REFERENCE), REFERENCE)
    assert list(table.index[~table["agrees"]]) == [ERRS]
    assert kick.report(table).splitlines()[-1] == "differs"


def test_only_data_that_need_no_download_are_run() -> None:
    setups = yaml.safe_load((ROOT / "params.yaml").read_text())["setups"]
    assert {setups[name]["dataset"] for name in kick.SETUPS} == {"wine", "breast_cancer", "digits"}
    (run,) = re.findall(r"^kick: SETUPS = (.*)$", (ROOT / "Makefile").read_text(), flags=re.M)
    assert {*run.split(",")} == {*kick.SETUPS}
