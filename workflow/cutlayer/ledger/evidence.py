"""Evidence: what a claim, a printed number or a headline asks of an exhibit's cells, as one value per seed.

A check selects cells by their columns and takes a statistic of them: `value`, the mean; `largest`; `slope`, that of the
least-squares line over the exhibit's axis; with a right side also `gap` (left minus right, place by place),
`largest_gap`, `share_below`, `ratio` (of the means) and `at_equal_leak`: by how much the left side's utility exceeds
the right side's where both leak alike. For the last, the settings of each side are points (leak, utility) of a curve,
straight between neighbors; the two curves are compared at every leak that a setting of either has, as far as both
reach. With a loss in place of a utility, less is better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import linregress

from cutlayer.core import failed_cells
from cutlayer.core.errors import InputError

from .cells import axis
from .statistics import ROUNDING

FAILED, SKIPPED, UNCOMPARED = "failed", "skipped", "uncompared"
SETTING = ["seed", "defense", "setting"]
HOW = {
    "value": ("value", "mean"),
    "largest": ("value", "max"),
    "gap": ("gap", "mean"),
    "largest_gap": ("gap", "max"),
    "share_below": ("below", "mean"),
}
NOT_COMPARED = {
    "ratio": "the right side is 0",
    "slope": "there are fewer than two places",
    "at_equal_leak": "the two sides never leak alike",
}
Check = Mapping[str, Any]
Selection = Mapping[str, Any]
NOTHING = pd.DataFrame({"seed": pd.Series(dtype=int), "value": pd.Series(dtype=float)})


@dataclass(frozen=True)
class Found:
    """What a check found in one setup."""

    facts: dict[str, str]  # setup, dataset, provenance
    values: pd.DataFrame  # columns seed, value; no row where something is lacking
    lacks: str = ""  # FAILED: a method did; SKIPPED: none applies; UNCOMPARED: there is nothing to compare
    why: str = ""  # it is lacking


def per_setup(check: Check, cells: Mapping[str, pd.DataFrame]) -> Iterator[Found]:
    """What a check finds in each of its setups, or in each for which its exhibit has a number."""
    table = cells[check["exhibit"]]
    with_results = table[(table["skipped"] == "") | failed_cells.among(table)]
    for setup in check.get("setups") or dict.fromkeys(with_results["setup"]):
        own = table[table["setup"] == setup]
        if own.empty:
            where = f"claim on {check['exhibit']}"
            raise InputError(where, f"has no cells for setup {setup!r}", "see the exhibit's csv")
        yield _of_setup(check, own)


def _of_setup(check: Check, own: pd.DataFrame) -> Found:
    facts = {key: str(own[key].iloc[0]) for key in ("setup", "dataset", "provenance")}
    failed, skipped = failed_cells.among(own), own["skipped"] != ""
    reason = _reason(check, own[failed])
    if reason:
        return Found(facts, NOTHING, FAILED, reason)
    values = _statistic(check, own[~skipped])
    lost = int(values["value"].isna().sum())
    if lost:
        reason = f"in {lost} of {len(values)} seeds {NOT_COMPARED[check['statistic']]}"
        return Found(facts, NOTHING, UNCOMPARED, reason)
    if not values.empty:
        return Found(facts, values)
    reason = _reason(check, own[skipped & ~failed])
    if reason:
        return Found(facts, NOTHING, SKIPPED, reason)
    raise InputError(f"claim on {check['exhibit']}", f"selects nothing: {dict(check)}", "see the exhibit's csv")


def _reason(check: Check, rows: pd.DataFrame) -> str:
    """Why a method failed, or does not apply, that the check would select; part of the evidence is no evidence."""
    for selection in [*selections(check["left"]), *selections(check.get("right", []))]:
        hit = pd.Series(True, index=rows.index)
        for column in set(selection) - {"metric"}:
            hit &= rows[column].isin([*_listed(selection[column]), ""])
        if hit.any():
            return str(rows["skipped"][hit].iloc[0])
    return ""


def _statistic(check: Check, own: pd.DataFrame) -> pd.DataFrame:
    """One value per seed, missing where there is nothing to compare; no row when nothing is selected."""
    if check["statistic"] == "at_equal_leak":
        return _at_equal_leak(check, own)
    along = axis(own)
    of_several = "max" if check.get("of_several") == "most" else "min"
    left = _select(own, check["left"], along, of_several)
    if check["statistic"] == "slope":
        return _slope(left)
    if check.get("at"):
        ends = left["axis"].min() if check["at"] == "first" else left["axis"].max()
        left = left[left["axis"] == ends]
    if "right" in check:
        left = left.merge(_select(own, check["right"], along, of_several), on=["seed", "axis"], suffixes=("", "_right"))
        left["gap"] = left["value"] - left["value_right"]
        left["below"] = left["gap"] < -ROUNDING
    if check["statistic"] == "ratio":
        means = left.groupby("seed")[["value", "value_right"]].mean()
        return (means["value"] / means["value_right"].replace(0, np.nan)).rename("value").reset_index()
    column, how = HOW[check["statistic"]]
    return left.groupby("seed")[column].agg(how).astype(float).rename("value").reset_index()


def _slope(line: pd.DataFrame) -> pd.DataFrame:
    """The slope of each seed's least-squares line."""
    slopes = {
        seed: linregress(own["axis"], own["value"]).slope if own["axis"].nunique() > 1 else np.nan
        for seed, own in line.dropna().groupby("seed")
    }
    return pd.DataFrame({"seed": list(slopes), "value": [float(slope) for slope in slopes.values()]})


def _at_equal_leak(check: Check, own: pd.DataFrame) -> pd.DataFrame:
    sides = [_points(own, check[side], check) for side in ("left", "right")]
    if any(side.empty for side in sides):
        return NOTHING
    seeds = sorted({seed for side in sides for seed in side["seed"]})
    curves = [[side[side["seed"] == seed][["leak", "utility"]].to_numpy() for side in sides] for seed in seeds]
    return pd.DataFrame({"seed": seeds, "value": [equal_leak_difference(*pair) for pair in curves]})


def _points(own: pd.DataFrame, side: Selection, check: Check) -> pd.DataFrame:
    """Leak and utility of each seed and setting of a defense."""
    parts = [_where(own, {**side, **check[name]}).groupby(SETTING)["value"].mean() for name in ("leak", "utility")]
    return pd.concat(parts, axis=1, join="inner", keys=["leak", "utility"]).reset_index()


def equal_leak_difference(left: np.ndarray, right: np.ndarray) -> float:
    """The mean difference of two curves' utilities at equal leak; points (n, 2) of (leak, utility) each.

    NaN where no leak is within the reach of both.
    """
    if not len(left) or not len(right):
        return float("nan")
    low, high = max(side[:, 0].min() for side in (left, right)), min(side[:, 0].max() for side in (left, right))
    leaks = np.unique(np.concatenate([left[:, 0], right[:, 0]]))
    leaks = leaks[(leaks >= low) & (leaks <= high)]
    if not len(leaks):
        return float("nan")
    return float(np.mean(_at(leaks, left) - _at(leaks, right)))


def _at(leaks: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The utility of a curve at some leaks; where several points leak alike, their mean."""
    places, which = np.unique(points[:, 0], return_inverse=True)
    utility = np.bincount(which, points[:, 1]) / np.bincount(which)
    return np.interp(leaks, places, utility)


def _select(own: pd.DataFrame, selection: Selection | Sequence[Selection], along: str, of_several: str) -> pd.DataFrame:
    """Columns seed, axis, value; of several selections the least or the greatest value counts ("min", "max")."""
    parts = []
    for one in selections(selection):
        parts.append(_where(own, one).groupby(["seed", along], dropna=False)["value"].mean().reset_index())
    together = pd.concat(parts).groupby(["seed", along], dropna=False)["value"].agg(of_several)
    return together.rename_axis(["seed", "axis"]).reset_index()


def _where(own: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    """The cells that a selection means."""
    for column, value in selection.items():
        own = own[own[column].isin(_listed(value))]
    return own


def selections(given: Selection | Sequence[Selection]) -> Sequence[Selection]:
    """One selection or several, as several."""
    return [given] if isinstance(given, Mapping) else given


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
