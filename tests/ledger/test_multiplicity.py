"""Many verdicts at once: p-values of rows, Holm within a claim, and what Benjamini and Hochberg keep."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cutlayer.ledger import files, multiplicity
from cutlayer.ledger.cells import WHO
from cutlayer.ledger.claims import Scale, judge
from cutlayer.ledger.estimates import compared
from cutlayer.ledger.verdicts import of_claim, of_number

PRINTED = pd.DataFrame(columns=["item", "dataset", "method", "metric", "value"])
VALUES = np.array([0.5, 1.0, 2.0, 1.5, 1.0])  # mean 1.2, standard error 0.255


def cells(setup, values, metric="depth"):
    common = dict.fromkeys(WHO, "") | {"setup": setup, "dataset": setup, "provenance": "real", "defense": "d", "all": 0}
    facts = {"skipped": "", "n": 0, "cases": 1, "tested": 0, "few": math.nan, "chance": math.nan, "error": math.nan}
    return pd.DataFrame([common | facts | {"metric": metric, "seed": s, "value": v} for s, v in enumerate(values)])


def claim(setups, **limits):
    check = {"exhibit": "e", "statistic": "value", "left": {"metric": "depth"}} | limits
    content = {"claims": {"c": {"text": "It is deep.", "place": "p", "check": check, "why": "w"}}}
    table = pd.concat([cells(name, values) for name, values in setups.items()])
    return judge("paper", content, PRINTED, {"e": table}, Scale("paper"))


@pytest.mark.parametrize("limits", [{"at_least": 0.2}, {"at_most": 0.2}])
def test_the_p_value_of_a_claim_is_students(limits):
    check = {"exhibit": "e", "statistic": "value", "left": {"metric": "depth"}} | limits
    judged = partial(of_claim, check)
    ours = compared(check, cells("s", VALUES))
    wanted = stats.ttest_1samp(VALUES, 0.2, alternative="greater").pvalue
    assert wanted < 0.025
    assert multiplicity.p_value(ours, judged, judged(ours)) == pytest.approx(wanted, rel=0.01)


def test_a_number_holds_at_the_larger_of_its_two_p_values():
    ours = compared({"exhibit": "e", "statistic": "value", "left": {"metric": "depth"}}, cells("s", VALUES))
    spread = 1.2
    judged = lambda found: of_number(1.0, found.shown, spread)  # noqa: E731
    sides = [stats.ttest_1samp(VALUES, end, alternative=way).pvalue for end, way in [(-0.2, "greater"), (2.2, "less")]]
    assert multiplicity.p_value(ours, judged, "holds") == pytest.approx(max(sides), rel=0.01)


def test_what_is_undecided_or_a_point_has_no_p_value():
    check = {"exhibit": "e", "statistic": "value", "left": {"metric": "depth"}, "at_least": 1.0}
    ours = compared(check, cells("s", VALUES))
    assert math.isnan(multiplicity.p_value(ours, partial(of_claim, check), "undecided"))
    worst = compared(check | {"statistic": "largest"}, cells("s", VALUES))
    assert math.isnan(multiplicity.p_value(worst, partial(of_claim, check), "holds"))


def test_a_verdict_of_one_setup_of_several_says_that_it_stands_by_itself():
    """p is 0.0087 against 0.2 in one setup: of three it stands (0.025 / 2 = 0.0125), of ten it does not."""
    sure, open_still = VALUES + 10, np.array([-1.0, 1.0, -2.0, 2.0, 0.0])
    of_three = claim({"a": sure, "b": VALUES, "c": open_still}, at_least=0.2)
    assert of_three["verdict"].tolist() == ["holds", "holds", "undecided"]
    assert of_three["alone"].tolist() == ["", "", ""]
    many = {"a": sure, "b": VALUES} | {f"c{i}": open_still for i in range(8)}
    assert claim(many, at_least=0.2)["alone"].tolist() == ["", "yes", *[""] * 8]
    assert claim({"b": VALUES}, at_least=0.2)["alone"].tolist() == [""]


def test_the_foot_counts_what_benjamini_and_hochberg_keep():
    """Of ten rows, 0.004 and 0.0075 are below 1 and 2 times 0.0025; 0.02 is not below 3 times."""
    rows = pd.DataFrame({"verdict": ["fails"] * 3 + ["holds (reduced)"] + ["undecided"] * 6, "low": 0.0, "high": 1.0})
    rows["p"] = [0.002, 0.0045, 0.02, 0.001, *[math.nan] * 6]
    assert multiplicity.discoveries(rows) == (10, 2, 1)
    assert "2 *fails* or *differs* and 1 *holds* are kept" in files.false(rows)
    assert multiplicity.discoveries(rows.astype(str)) == (10, 2, 1)
    points = rows.assign(high=0.0)  # judged by no interval
    assert multiplicity.discoveries(points) == (0, 0, 0)
