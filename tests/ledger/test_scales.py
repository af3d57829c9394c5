"""Cells of several scales: what is compared is of one scale, the largest at which all of it is there."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from cutlayer.exhibits.base import footer
from cutlayer.ledger import scales
from cutlayer.ledger.cells import WHO, summarize
from cutlayer.ledger.claims import Scale, judge
from cutlayer.ledger.evidence import FAILED

ORDER = ["quick", "reference", "printed", "paper"]
SIZES = [Scale("reference", {"setup": {"bank": "rows"}}, absent="not run"), Scale("printed", absent="not run")]
PRINTED = pd.DataFrame(columns=["item", "dataset", "target", "method", "metric", "value"])


def cells(scale: str, defense: str = "none", values: tuple[float, ...] = (0.9, 0.9, 0.9), **more: str) -> pd.DataFrame:
    """Utility of a defense at a scale, one value a seed."""
    who = dict.fromkeys(WHO, "") | {"setup": "bank", "provenance": "real", "features": 8, "metric": "test_auc"}
    who |= {"defense": defense} | more
    who["dataset"] = who["setup"]
    rows = [who | {"all": 0, "seed": seed, "value": value} for seed, value in enumerate(values)]
    return pd.DataFrame(rows).assign(n=10, cases=1, skipped=more.get("skipped", ""), scale=scale)


def claim(defense: str = "d", **check: Any) -> dict[str, Any]:
    left = {"defense": defense, "metric": "test_auc", "attack": ""}
    full = {"exhibit": "e", "statistic": "gap", "left": left, "right": left | {"defense": "none"}, "at_most": 0.0}
    return {"text": "It costs.", "place": "p", "check": full | check}


def judged(*tables: pd.DataFrame, **entry: Any) -> list[dict[str, Any]]:
    content = {"claims": {"costs": claim() | entry}}
    return judge("paper", content, PRINTED, {"e": pd.concat(tables, ignore_index=True)}, *SIZES).to_dict("records")


SMALL = [cells("reference"), cells("reference", "d", (0.5, 0.5, 0.51))]
LARGE = [cells("printed"), cells("printed", "d", (0.8, 0.8, 0.81))]


def test_a_row_is_of_the_largest_scale_at_which_all_that_it_compares_is_there():
    (row,) = judged(*SMALL, *LARGE)
    assert (row["scale"], row["size"]) == ("printed", "full")
    assert row["ours"] == pytest.approx(-0.1, abs=0.01)


def test_a_sample_says_what_else_is_smaller():
    for tables, smaller in ((SMALL, "; setup bank differs in rows"), (LARGE, "")):
        (row,) = judged(*(table.assign(provenance="sample") for table in tables))
        assert row["size"] == f"reduced: the data are a sample{smaller}"


@pytest.mark.parametrize("there", [0, 1])
def test_nothing_is_compared_across_scales(there: int):
    (row,) = judged(*SMALL, LARGE[there])
    assert (row["scale"], row["size"]) == ("reference", "reduced: setup bank differs in rows")
    assert row["ours"] == pytest.approx(-0.4, abs=0.01)


def test_cells_of_a_smaller_scale_change_no_row_of_a_larger_one():
    alone, beside = (pd.DataFrame(judged(*tables)) for tables in (LARGE, [*SMALL, *LARGE]))
    pd.testing.assert_frame_equal(alone, beside)


def test_what_is_nowhere_says_so():
    (row,) = judged(SMALL[0])
    assert (row["verdict"], row["why"], row["scale"]) == ("no result", "not run", "reference")


def test_what_failed_at_the_larger_scale_has_no_result_from_a_smaller_one():
    failed = cells("printed", "d", (float("nan"),)).assign(seed=-1, metric="", skipped="failed: it diverges")
    (row,) = judged(*SMALL, LARGE[0], failed)
    assert (row["scale"], row["verdict"], row["why"]) == ("printed", "no result", "failed: it diverges")


def test_one_row_for_several_setups_is_of_one_scale_and_of_most_of_them():
    other = [table.assign(setup="wine", dataset="wine") for table in SMALL]
    (row,) = judged(*SMALL, *other, *LARGE, across="any")
    assert (row["scale"], row["dataset"]) == ("reference", "bank, wine")
    more = [table.assign(setup="wine", dataset="wine") for table in LARGE]
    (row,) = judged(*SMALL, *other, *LARGE, *more, across="any")
    assert (row["scale"], row["dataset"]) == ("printed", "bank, wine")


def test_two_setups_of_one_dataset_are_more_than_one_of_them():
    other = [table.assign(setup="bank_l2") for table in SMALL]
    (row,) = judged(*SMALL, *other, *LARGE, across="any")
    assert row["scale"] == "reference"


def test_a_headline_is_of_the_scale_of_which_the_ledger_is():
    """Also where a method failed at the larger one, and where something was not run there."""
    failed = cells("printed", "d", (float("nan"),)).assign(seed=-1, metric="", skipped="failed: it diverges")
    for tables, lacks in ((LARGE, ""), ([LARGE[0], failed], FAILED), (LARGE[:1], "")):
        (row,) = judged(*SMALL, *tables)
        table = pd.concat([*SMALL, *tables], ignore_index=True)
        (found,) = scales.largest_of(claim()["check"], {"e": table}, ORDER)
        assert found.lacks == lacks
        assert found.compared.shown.mean == pytest.approx(row["ours"], nan_ok=True)


def test_each_setup_has_its_own_largest_scale():
    other = [table.assign(setup="wine", dataset="wine") for table in SMALL]
    assert [(row["setup"], row["scale"]) for row in judged(*SMALL, *other, *LARGE)] == [
        ("bank", "printed"),
        ("wine", "reference"),
    ]


@pytest.mark.parametrize(
    ("value", "scale", "verdict"),
    [(0.8, "printed", "holds"), (0.9, "printed", "undecided"), (0.99, "reference", "holds")],
)
def test_every_reading_is_of_one_scale_the_largest_that_can_decide(value: float, scale: str, verdict: str):
    """What fails fails under every reading: one that does not, at a larger scale, counts before a smaller one."""
    readings = {"one": claim("d")["check"], "other": claim("e")["check"]}
    more = [cells(scale, "e") for scale in ("reference", "printed")]
    large = [LARGE[0], cells("printed", "d", (value, value, value))]
    (row,) = judged(*SMALL, *large, more[0], readings=readings)
    assert (row["scale"], row["verdict"].removesuffix(" (reduced)")) == (scale, verdict)
    (row,) = judged(*SMALL, *LARGE, *more, readings=readings)
    assert row["scale"] == "printed"


# What exhibits show.


def shown(*tables: pd.DataFrame, **draw: str) -> set[tuple[str, str, str]]:
    table = scales.shown(pd.concat(tables, ignore_index=True), draw, ORDER)
    return {*table[["setup", "defense", "scale"]].itertuples(index=False, name=None)}


def test_a_figure_shows_of_a_setup_one_scale_and_a_row_of_a_table_is_of_one():
    table = [*SMALL, LARGE[1]]
    assert shown(*table, use="curves") == {("bank", "none", "reference"), ("bank", "d", "reference")}
    both = {("bank", "none", "reference"), ("bank", "d", "printed")}
    assert shown(*table, use="table", rows="setup, scheme") == both
    lacking = cells("reference", "d", attack="norm")  # an attack that was not run at the larger scale
    assert shown(*table, lacking, use="table", rows="setup, scheme") == {
        ("bank", "none", "reference"),
        ("bank", "d", "reference"),
    }


def test_rows_come_in_their_order_whatever_scale_they_are_of():
    table = scales.shown(pd.concat([*SMALL, LARGE[0]], ignore_index=True), {"use": "table", "rows": "scheme"}, ORDER)
    assert [*dict.fromkeys(zip(table["defense"], table["scale"], strict=True))] == [
        ("none", "printed"),
        ("d", "reference"),
    ]


def test_what_is_of_one_scale_is_shown_as_it_is():
    table = pd.concat(SMALL, ignore_index=True)
    assert scales.shown(table, {"use": "curves"}, ORDER) is table


def test_a_drawing_of_several_scales_says_of_which_setup_each_is():
    table = pd.concat([*SMALL, LARGE[0].assign(setup="wine", dataset="wine")], ignore_index=True)
    assert footer(summarize(table, "p", "e")).startswith("scale reference: bank; printed: wine · ")
