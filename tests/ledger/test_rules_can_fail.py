"""No rule of a paper.yaml is one that every result satisfies, or that none does.

Each claim's own cells, of the reference run, are given values that have nothing to do with it: one side all above the
other or both equal, all 0, all 1, all chance, rising, falling, and their own shuffled over defenses, settings, attacks
and places, all without the noise of few rows. What holds in all of this says nothing (an identity belongs in a test),
and what holds in none of it cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.ledger import cells, evidence, verdicts
from cutlayer.ledger.bounds import rule
from cutlayer.ledger.check_cells import all_selections, mask
from cutlayer.ledger.estimates import compared
from cutlayer.metrics import declared
from cutlayer.plan import check_lines
from cutlayer.plan.limits import refuse
from cutlayer.plan.sweeps import UNDEFENDED
from cutlayer.reference import published, reasons

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / published.FOLDER
PLAN = reasons.of_reference(ROOT)
SHOWN = published.available(FOLDER, PLAN.papers)
CLAIMS = {f"{paper} {name}": (paper, claim) for paper, own in SHOWN.items() for name, claim in own["claims"].items()}
SHUFFLES, MANY = 5, 1e9
BAD = {verdicts.FAILS, verdicts.REFUTED}
GOOD = {verdicts.HOLDS, verdicts.NOT_REFUTED, verdicts.ATTAINED}

Check = dict[str, Any]
Tables = Callable[[str, str], pd.DataFrame]


@pytest.fixture(scope="module")
def tables() -> Tables:
    """The cells of an exhibit at one scale, read once."""
    known: dict[tuple[str, str], pd.DataFrame] = {}

    def of(paper: str, exhibit: str) -> pd.DataFrame:
        if (paper, exhibit) not in known:
            table = cells.load(published.cells(FOLDER, paper, exhibit))
            known[paper, exhibit] = table[table["scale"] == table["scale"].iloc[0]].reset_index(drop=True)
        return known[paper, exhibit]

    return of


def inputs(check: Check, own: pd.DataFrame, draw: np.random.Generator) -> Iterator[np.ndarray]:
    """Values for the cells that a check selects, those that decide most rules first."""
    place = own[cells.axis(own)].rank(method="dense").to_numpy()
    limits = [check[key] for key in ("at_least", "at_most") if key in check]
    inside = float(np.mean(limits))
    left = np.logical_or.reduce([mask(own, one) for one in evidence.listed(check["left"])])
    yield from _sweeps(check, own, left)
    yield from _shares(check, own, left)
    for base in (0.5, 0.0, 1.0) if "right" in check else (0.0, 0.5, 1.0):
        for shift in (inside - 0.25, inside + 0.25, inside, inside - 1, inside + 1, 0.0, -1.0, 1.0):
            yield own["value"].to_numpy() * 0 + base + shift * left  # one side all above the other, or on one level
    for steep in (-1.0, 1.0):
        yield 0.5 + steep * (place / place.max() - 0.5)
    yield own["chance"].fillna(0.5).to_numpy()
    groups = [*own.groupby(["metric", "seed"], sort=False).indices.values()]
    for _ in range(SHUFFLES):
        values = own["value"].to_numpy(copy=True)
        for group in groups:
            values[group] = draw.permutation(values[group])
        yield values


def _sweeps(check: Check, own: pd.DataFrame, left: np.ndarray) -> Iterator[np.ndarray]:
    """Of two sweeps: both along one range of what is held equal, and one above the other in what is compared."""
    if check["statistic"] not in check_lines.AT_EQUAL:
        return
    held = mask(own, check["leak" if check["statistic"] == "at_equal_leak" else "utility"])
    step = own.groupby("defense")["setting"].rank(method="dense").to_numpy()
    for lift in (-0.4, 0.4):
        yield np.where(held, 0.5 + 0.4 * step / step.max(), 0.5 + lift * left)


def _shares(check: Check, own: pd.DataFrame, left: np.ndarray) -> Iterator[np.ndarray]:
    """Of what is kept of a worth: one of 1/2, of which little or nearly all is kept."""
    if check["statistic"] == "kept":
        for value in (0.55, 0.95):
            yield np.where(left, value, np.where(own["defense"] == UNDEFENDED, 1.0, 0.5))


def within(own: pd.DataFrame, values: np.ndarray) -> pd.DataFrame:
    """The cells with these values, as far as their metrics can have them."""
    ends = np.array([declared.of(name).range for name in own["metric"]])
    value = np.clip(values, ends[:, 0], ends[:, 1])
    return own.assign(value=value, error=0.0, **dict.fromkeys(("tested", "few", "cases"), MANY))


def verdict(check: Check, claim: dict[str, Any], own: pd.DataFrame) -> str:
    ours = compared(check, own)
    return rule(ours, claim, check)(ours)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_rule_can_hold_and_can_fail(name: str, tables: Tables) -> None:
    ask(name, *CLAIMS[name], tables)


def test_an_identity_cannot_fail(tables: Tables) -> None:
    line = "largest(leak_auc_mean of norm under none - none) in figure3a <= 0"
    with pytest.raises(AssertionError, match="c: nothing can make it fail"):
        ask("c", "marvell", {"check": check_lines.parsed(line, "c")}, tables)


def ask(name: str, paper: str, claim: dict[str, Any], tables: Tables) -> None:
    """Raise unless some values make the claim hold, and some make it fail."""
    for check in check_lines.of(claim):
        known = check["exhibit"] in SHOWN[paper]["exhibits"]
        used = _used(check, tables(paper, check["exhibit"])) if known else None
        if used is None:
            continue  # of which the reference run has nothing yet
        found: set[str] = set()
        for values in inputs(check, used, generator("rules", name)):
            found.add(verdict(check, claim, within(used, values)))
            if BAD & found and GOOD & found:
                break
        # A bound about single labels is shown, and no AUC across rows can refute it.
        assert BAD & found or claim.get("about") == "label", f"{name}: nothing can make it fail"
        assert GOOD & found, f"{name}: nothing can make it hold"


def _used(check: Check, table: pd.DataFrame) -> pd.DataFrame | None:
    """All that a check selects in the first setup that has all of it, as it was measured."""
    for found in evidence.per_setup(check, {check["exhibit"]: table}, absent="none"):
        if not found.used.empty and found.lacks not in (evidence.FAILED, evidence.SKIPPED):
            own = table[(table["setup"] == found.facts["setup"]) & (table["skipped"] == "")]
            chosen = np.logical_or.reduce([mask(own, part) for part in all_selections(check)])
            return own[chosen].loc[found.used.index].reset_index(drop=True)
    return None


VACUOUS = ["test_auc in e >= 0", "test_auc in e <= 1", "test_auc under a - b in e >= -1", "mse of a / b in e >= 0",
           "share(mse of a < b) in e >= 0", "largest(attack_auc) in e <= 1"]  # fmt: skip
IMPOSSIBLE = ["test_auc in e >= 1.5", "test_auc under a - b in e <= -1.1", "mse in e <= -0.1"]


@pytest.mark.parametrize("line", VACUOUS)
def test_a_limit_that_no_value_is_beyond_is_refused(line: str) -> None:
    with pytest.raises(InputError, match=r"c: .* can never be violated: the .* is between .*"):
        refuse(check_lines.parsed(line, "c"), "c")


@pytest.mark.parametrize("line", IMPOSSIBLE)
def test_a_limit_that_no_value_meets_is_refused(line: str) -> None:
    with pytest.raises(InputError, match=r"c: .* can never be met: the .* is between .*"):
        refuse(check_lines.parsed(line, "c"), "c")


def test_a_trade_off_is_between_metrics_of_which_one_side_is_better() -> None:
    line = "at_equal_leak(test_auc of model against majority of a under b - c) in e >= 0"
    with pytest.raises(InputError, match="c: of majority neither more nor less is better"):
        refuse(check_lines.parsed(line, "c"), "c")


EITHER_WAY = ["test_auc in e >= 0.5", "slope(mse) in e >= 0", "largest(mse of a - b) in e <= 0",
              "at_equal_leak(test_auc of model against attack_auc of a under b - c) in e >= 0"]  # fmt: skip


@pytest.mark.parametrize("line", EITHER_WAY)
def test_what_can_go_either_way_is_not(line: str) -> None:
    refuse(check_lines.parsed(line, "c"), "c")
