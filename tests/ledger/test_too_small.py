"""Too small to judge: a reduced model that is worth far less than the paper's without a defense."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from cutlayer.ledger.cells import WHO
from cutlayer.ledger.claims import Scale, judge
from cutlayer.ledger.too_small import FAR, reasons

PUBLISHED = 0.85
UTILITY, LEAK = {"metric": "test_accuracy", "attack": ""}, {"metric": "attack_accuracy", "attack": "a"}
REDUCED = Scale("reference", {"setup": {"s": "rows"}})


def cells(value, **who):
    common = dict.fromkeys(WHO, "") | {"setup": "s", "dataset": "s", "provenance": "real", "defense": "d", "all": 0}
    facts = {"skipped": "", "n": 0, "cases": 1, "tested": 1e6, "few": 1e5, "chance": 0.1, "error": 1e-4}
    values = value + np.array([-1e-3, 1e-3, 0, -5e-4, 5e-4])
    return pd.DataFrame([common | facts | who | {"seed": seed, "value": v} for seed, v in enumerate(values)])


def rows(worth, scale=REDUCED, printed_of="none", undefended="none", setting=""):
    """One number and one claim on what a defense leaves, and the undefended model's own number."""
    table = pd.concat(
        [cells(worth, **UTILITY, defense=undefended, setting=setting), cells(0.7, **UTILITY), cells(0.3, **LEAK),
         cells(0.5, **LEAK, defense="none")]
    )  # fmt: skip

    def number(method, side):
        check = {"exhibit": "e", "statistic": "value", "left": side | {"defense": method}}
        return {"published": {"method": method, "metric": side["metric"]}, "statement": "s", "why": "w", "check": check,
                "depends_on_scale": True}  # fmt: skip

    printed = [(printed_of, "test_accuracy", PUBLISHED), ("d", "attack_accuracy", 0.3)]
    published = pd.DataFrame([{"item": "t", "dataset": "s", "method": m, "metric": k, "value": v}
                              for m, k, v in printed])  # fmt: skip
    check = {"exhibit": "e", "statistic": "value", "left": LEAK | {"defense": "d"}, "at_most": 0.4}
    claims = {"c": {"text": "It is safe.", "place": "p", "check": check, "why": "w"}}
    numbers = [number(printed_of, UTILITY), number("d", LEAK)]
    found = judge("p", {"numbers": numbers, "claims": claims}, published, {"e": table}, scale)
    return found["verdict"].tolist(), found["why"].tolist()


def test_the_distance_at_which_it_begins():
    assert FAR == 0.05


def test_no_defended_row_is_judged_and_the_undefended_one_is():
    found, why = rows(PUBLISHED - 0.1)
    assert found == ["differs (reduced)", "too small to judge", "too small to judge"]
    assert (
        why[1] == why[2] == "without a defense test_accuracy is 0.750 at this size, where the paper has 0.850 or more"
    )


def test_the_largest_run_of_a_setup_is_told_where_there_is_one():
    small = cells(PUBLISHED - 0.1, **UTILITY, defense="none")
    number = {"published": {"metric": "test_accuracy"}, "statement": "s", "why": "w",
              "check": {"exhibit": "e", "statistic": "value", "left": UTILITY | {"defense": "none"}}}  # fmt: skip
    row = {"item": "t", "dataset": "s", "method": "none", "metric": "test_accuracy", "value": PUBLISHED}
    paper, published = {"numbers": [number]}, pd.DataFrame([row])
    larger = [{"e": cells(PUBLISHED - 0.08, **UTILITY, defense="none")}, {"e": small.assign(setup="another")}]
    (alone,) = reasons(paper, published, {"e": small}).values()
    (beside,) = reasons(paper, published, {"e": small}, larger).values()
    assert beside == f"{alone}, and 0.770 at the largest that was run"


def test_a_model_that_is_too_small_is_so_where_sweeps_have_no_common_range_too():
    """SecDT beside dp on Avazu: what is said first of the comparison is that the model is far from the paper's."""
    sweeps = [cells(leak, **LEAK, defense=name, setting=f"s={leak}") for name, leak in (("d", 0.3), ("e", 0.8))]
    sweeps += [cells(0.7, **UTILITY, defense=name, setting=f"s={leak}") for name, leak in (("d", 0.3), ("e", 0.8))]
    undefended = [cells(PUBLISHED - 0.1, **UTILITY, defense="none"), cells(0.9, **LEAK, defense="none")]
    check = {"exhibit": "e", "statistic": "at_equal_leak", "at_least": 0, "leak": LEAK, "utility": UTILITY}
    check |= {"left": {"defense": "d"}, "right": {"defense": "e"}}
    claims = {"c": {"text": "It is more useful.", "place": "p", "check": check}}
    published = pd.DataFrame(
        [{"item": "t", "dataset": "s", "method": "none", "metric": "test_accuracy", "value": PUBLISHED}]
    )
    own = {"exhibit": "e", "statistic": "value", "left": UTILITY | {"defense": "none"}}
    numbers = [{"published": {"method": "none", "metric": "test_accuracy"}, "statement": "s", "why": "w", "check": own,
                "depends_on_scale": True}]  # fmt: skip
    content, table = {"numbers": numbers, "claims": claims}, pd.concat([*sweeps, *undefended])
    assert judge("p", content, published, {"e": table}, REDUCED)["verdict"].tolist()[-1] == "too small to judge"
    content = {"numbers": [], "claims": claims}
    assert judge("p", content, published, {"e": table}, REDUCED)["verdict"].tolist()[-1] == "no common range (reduced)"


@pytest.mark.parametrize("worth", [PUBLISHED - 0.049, PUBLISHED - FAR, PUBLISHED + 0.1])
def test_a_model_that_may_be_near_enough_is_judged(worth):
    assert rows(worth)[0][1:] == ["holds (reduced)", "holds (reduced)"]


def test_a_model_of_the_papers_own_size_is_not_too_small():
    assert rows(PUBLISHED - 0.1, Scale("paper"))[0] == ["differs", "holds", "holds"]


def test_where_the_paper_prints_no_undefended_utility_its_best_defended_one_counts():
    found, _ = rows(PUBLISHED - 0.1, printed_of="d")
    assert found[1:] == ["too small to judge", "too small to judge"]


def test_a_weight_of_0_is_no_defense():
    found, _ = rows(PUBLISHED - 0.1, undefended="d2", setting="weight=0.0", printed_of="d")
    assert found[1:] == ["too small to judge", "too small to judge"]


def test_where_no_undefended_utility_was_measured_nothing_is_withheld():
    found, _ = rows(math.nan, undefended="d2", printed_of="d")
    assert found[1:] == ["holds (reduced)", "holds (reduced)"]


def test_how_long_a_step_takes_is_judged_all_the_same():
    check = {"exhibit": "e", "statistic": "value", "left": {"metric": "time_ratio"}, "at_most": 0.2}
    claims = {"c": {"text": "It takes little.", "place": "p", "check": check, "why": "w"}}
    number = {"published": {"method": "none"}, "statement": "s", "why": "w", "depends_on_scale": True,
              "check": {"exhibit": "e", "statistic": "value", "left": UTILITY | {"defense": "none"}}}  # fmt: skip
    published = pd.DataFrame([{"item": "t", "dataset": "s", "method": "none", "metric": "m", "value": PUBLISHED}])
    times = cells(0.1, metric="time_ratio").assign(chance=math.nan, error=math.nan, tested=0)
    table = pd.concat([cells(PUBLISHED - 0.1, **UTILITY, defense="none"), times])
    found = judge("p", {"numbers": [number], "claims": claims}, published, {"e": table}, REDUCED)
    assert found["verdict"].tolist() == ["differs (reduced)", "holds (reduced)"]
