"""Estimates: the statistic of the cells that a check selects, as a mean over seeds with its interval.

`value` is the mean of the left side and `slope` that of its least-squares line over the exhibit's axis; with a right
side `gap` is left minus right, place by place, `ratio` that of the means, `share_below` the share of the places where
the left side is surely below, and `hypervolume` by how much more of utility and leak the left side's settings dominate.
All are of means over seeds, at the first or last place of the axis with `at`, or with `at: every` at each of them.
`largest` and `largest_gap` are of every seed and place: what is said of every case is held against the worst one, which
is a point and not a sample.

Of a list of selections the least counts (`of_several: most`: the greatest), by its mean over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import linregress

from cutlayer.metrics import declared

from .asked import Check, Selection, undefended, where
from .chance import LOG_LOSS
from .samples import EVERYWHERE, fewest, known, of_values, unit
from .sides import Pair, Side, pairs, place_by_place
from .statistics import ROUNDING, Estimate, Sample, at_places, jackknife, smallest_of_largest, surely
from .tradeoff import hypervolume

UNKNOWN = Estimate(float("nan"), float("nan"), float("nan"))
POINTS = ["seed", "defense", "setting"]
WORST = {"largest", "largest_gap"}
NEUTRAL = {"gap": 0.0, "slope": 0.0, "hypervolume": 0.0, "ratio": 1.0}  # where neither side is more than the other


@dataclass(frozen=True)
class Compared:
    """What is shown, what is held against `at_most` and `at_least`; why nothing is, or that both sides are equal."""

    shown: Estimate
    largest: Estimate
    least: Estimate
    why: str = ""
    tie: str = ""
    refutes: float = math.nan  # of the left side's excess over a bound the p-value; nan where the right side is none
    again: Callable[[float, float], Compared] | None = None  # with this share of the seeds' scatter, for so many parts


NOTHING = Compared(UNKNOWN, UNKNOWN, UNKNOWN)


def compared(check: Check, own: pd.DataFrame) -> Compared:
    """The statistic of a check in the cells of one setup, where all that it selects is there."""
    statistic = check["statistic"]
    if statistic == "hypervolume":
        return _traded(check, own)
    sides = pairs(check, own)
    if statistic in WORST:
        worst = max(float(np.fmax.reduce(pair.value)) for row in sides for pair in row)
        return _the_same(Estimate(worst, worst, worst))
    if statistic == "share_below":
        return _shares(sides)
    if check.get("at") == "every":
        return _every(check, sides)
    samples = [[_sample(statistic, pair) for pair in row] for row in sides]
    lost = sum(int(np.isnan(sample.values).sum()) for row in samples for sample in row)
    if lost:
        reason = "the right side is 0" if statistic == "ratio" else "there are fewer than two places"
        return Compared(UNKNOWN, UNKNOWN, UNKNOWN, f"in {lost} of {len(samples[0][0].values)} seeds {reason}")

    def found(ratio: float, parts: float) -> Compared:
        estimate = _nested(check, _drawn(samples, ratio), parts)
        tie = _tied(estimate, NEUTRAL.get(statistic), sides[0][0])
        return replace(_the_same(estimate, tie), refutes=_excess(sides, samples))

    return _repeatable(found)


def _repeatable(found: Callable[[float, float], Compared]) -> Compared:
    return replace(found(1.0, 1.0), again=found)


def _drawn(samples: Sequence[Sequence[Sample]], ratio: float) -> list[list[Sample]]:
    return [[one.drawn_together(ratio) for one in row] for row in samples]


def _the_same(estimate: Estimate, tie: str = "") -> Compared:
    return Compared(estimate, estimate, estimate, tie=tie)


def _excess(sides: Sequence[Sequence[Pair]], samples: Sequence[Sequence[Sample]]) -> float:
    """The p-value of a left side that is not above the bound that is the right side; nan where it is none."""
    right = sides[0][0].right
    alone = len(sides) == len(sides[0]) == 1
    return (-samples[0][0]).below() if alone and right is not None and right.kind == declared.BOUND else math.nan


def _tied(found: Estimate, neutral: float | None, pair: Pair) -> str:
    """Why nothing tells the sides apart, if so: the difference is 0 in each of several seeds."""
    if neutral is None or not max(abs(end - neutral) for end in (found.low, found.high)) <= ROUNDING:
        return ""
    return f"equal in each of {len(np.unique(pair.left.seed))} seeds ({np.nanmean(pair.left.value):.4g})"


def _sample(statistic: str, pair: Pair) -> Sample:
    """One value a seed, NaN where there is nothing to compare."""
    if statistic == "slope":
        values, places = np.array([_slope(*line) for line in pair.lines()]), pair.left.place
        span = float(np.ptp(places[~np.isnan(places)])) or 1.0
        first_and_last = Pair(pair.left, pair.left)
        return Sample(values, _of_both(first_and_last, float(values.mean()) * span) / span, pair.exact)
    if statistic == "ratio" and pair.right:
        left, right = pair.by_seed(pair.left.value), pair.by_seed(pair.right.value)
        values = left / np.where(right == 0, np.nan, right)
        return Sample(values, _of_ratio(pair, float(values.mean())), pair.exact)
    if pair.right is None:
        return of_values(pair.left.kind, pair.by_seed(pair.value), pair.left.error, pair.left.rows, pair.exact)
    return _difference(pair)


def _difference(pair: Pair) -> Sample:
    """Left minus right. Where the right side is a known number, the left one's interval less it.

    To a bound the seeds are draws of one mechanism, each on rows of its own draws: what matters is their scatter, which
    is not less than what the rows of one of them leave.
    """
    values, right = pair.by_seed(pair.value), pair.right
    assert right is not None
    within = {pair.left.kind, right.kind} <= declared.IN_UNIT
    ends = (-1.0, 1.0) if within else EVERYWHERE
    if right.kind not in (declared.BOUND, declared.CHANCE):
        return Sample(values, _of_both(pair, float(values.mean())), pair.exact, ends=ends)
    bound = right.kind == declared.BOUND
    error, own = (0.0, _alone(pair.left)) if bound else (known(pair.left.error), 0.0)
    constant = within and float(np.ptp(right.value)) <= ROUNDING
    shift = unit(pair.left.kind, pair.left.rows, float(right.value.mean())) if constant else None
    return Sample(values, error, pair.exact, own, shift, ends)


def _slope(places: np.ndarray, values: np.ndarray) -> float:
    known = ~np.isnan(places)
    if len(np.unique(places[known])) < 2:
        return float("nan")
    return float(linregress(places[known], values[known]).slope)


def _alone(side: Side) -> float:
    """The standard error that its tested rows leave a side; of a share of 0 or 1, as if half a row were otherwise."""
    error, rows = known(side.error), fewest(side.rows)
    if error > 0 or rows <= 0 or side.kind not in (declared.SHARE, declared.AUC):
        return error
    share = (rows * float(np.nanmean(side.value)) + 0.5) / (rows + 1)
    return math.sqrt(share * (1 - share) / rows) * (0.5 if side.kind == declared.AUC else 1.0)


def _of_both(pair: Pair, difference: float) -> float:
    """The standard error that the number of tested rows leaves a difference, in all seeds and places the same rows.

    Of shares of the same rows see `_of_shares`. Of other rows the squares of both errors add; of AUCs of the same rows
    they are at most that, for how much the two have in common is not recorded. Where each seed has rows of its own the
    scatter of paired differences has their error already, so that AUCs need no more than shares do.
    """
    left, right = pair.left, pair.right or pair.left
    if pair.paired and left.kind == declared.SHARE:
        return _of_shares(pair, difference)
    if pair.paired and left.kind == declared.AUC and left.redrawn and right.redrawn:
        return _of_shares(pair, difference) / 2
    return math.hypot(_alone(left), _alone(right))


def _of_shares(pair: Pair, difference: float) -> float:
    """The same of a difference of shares of the same rows; 0 where their number is not known.

    They differ in at least |difference| of the rows, which is all that is known of how many differ. Without it a
    difference of one row in each of three seeds would be certain.
    """
    share = min(abs(difference), 1.0)
    return float(np.sqrt(share * (1 - share) / pair.rows)) if pair.rows > 0 else 0.0


def _of_ratio(pair: Pair, ratio: float) -> float:
    """The same of a ratio: the squares of the relative errors of both sides add."""
    right = pair.right or pair.left
    means = float(np.nanmean(pair.left.value)), float(np.nanmean(right.value))
    if not all(means):
        return 0.0
    return abs(ratio) * math.hypot(_alone(pair.left) / means[0], _alone(right) / means[1])


def _nested(check: Check, samples: Sequence[Sequence[Sample]], parts: float = 1) -> Estimate:
    """The least (or greatest) left side against the least (or greatest) right side."""
    if check.get("of_several") != "most":
        return smallest_of_largest(samples, parts)
    turned = [[-one for one in row] for row in samples]
    found = smallest_of_largest(turned, parts)
    return Estimate(-found.mean, -found.high, -found.low)


def _every(check: Check, sides: Sequence[Sequence[Pair]]) -> Compared:
    """Each place on its own; the largest is held against `at_most`, the least against `at_least`."""
    at = _gaps(sides)

    def found(ratio: float, parts: float) -> Compared:
        places = [partial(_nested, check, _drawn(here, ratio)) for here in at]
        largest, least = (at_places(places, top, parts) for top in (True, False))
        shown = {(True, False): largest, (False, True): least}.get(("at_most" in check, "at_least" in check))
        return Compared(shown or Estimate(largest.mean, least.low, largest.high), largest, least)

    return _repeatable(found)


def _shares(sides: Sequence[Sequence[Pair]]) -> Compared:
    """The share of the places where the least left side is below the least right one, at least and at most."""
    at = _gaps(sides)
    means = [min(max(float(one.values.mean()) for one in row) for row in here) for here in at]
    share = sum(mean < -ROUNDING for mean in means) / len(at)
    if len(at[0][0][0].values) < 2 and not at[0][0][0].exact:
        return _the_same(Estimate(share, float("nan"), float("nan")))
    tie = "equal at every place" if max(map(abs, means)) <= ROUNDING else ""

    def found(ratio: float, parts: float) -> Compared:
        drawn = [_drawn(here, ratio) for here in at]
        turned = [[[-one for one in row] for row in zip(*here, strict=True)] for here in drawn]
        least, most = surely(drawn, parts) / len(at), 1 - surely(turned, parts) / len(at)
        return _the_same(Estimate(share, least, most), tie)

    return _repeatable(found)


def _gaps(sides: Sequence[Sequence[Pair]]) -> list[list[list[Sample]]]:
    """The differences of all left sides and all right ones, place by place."""
    return [[[_sample("gap", pair) for pair in row] for row in here] for here in place_by_place(sides)]


def _traded(check: Check, own: pd.DataFrame) -> Compared:
    """By how much more the left side dominates, seed by seed as the jackknife has it, of means over seeds."""
    worst = where(own, undefended(check)).groupby("seed")["value"].mean()
    useful = where(own, dict(check["utility"]))
    sign = -1.0 if check["utility"]["metric"] == LOG_LOSS else 1.0
    if useful["chance"].isna().all():
        return Compared(UNKNOWN, UNKNOWN, UNKNOWN, "what a guess without information reaches in utility is unknown")
    chance = sign * useful.groupby("seed")["chance"].mean()
    sides = [_curve(own, check, check[key], sign) for key in ("left", "right")]
    errors = [_error(own, {**check["left"], **check[name]}) for name in ("leak", "utility")]

    def difference(places: np.ndarray) -> float:
        reference = float(worst.iloc[places].mean()), float(chance.iloc[places].mean())
        areas = [hypervolume(leak[places].mean(axis=0), use[places].mean(axis=0), *reference) for leak, use in sides]
        return areas[0] - areas[1]

    corner = float(worst.mean()), float(chance.mean())
    error = math.hypot(*(_of_area(side, corner, errors) for side in sides))
    sample = Sample(jackknife(difference, len(worst)), error)

    def found(ratio: float, parts: float) -> Compared:
        estimate = sample.drawn_together(ratio).estimate(parts)
        equal = abs(estimate.low) <= ROUNDING and abs(estimate.high) <= ROUNDING
        return _the_same(estimate, "both sides dominate the same area" if equal else "")

    return _repeatable(found)


def _curve(own: pd.DataFrame, check: Check, side: Any, sign: float) -> tuple[np.ndarray, np.ndarray]:
    """Leak and utility (seeds, settings) of a defense."""
    parts = [where(own, {**side, **check[name]}).groupby(POINTS)["value"].mean() for name in ("leak", "utility")]
    leak, use = (part.unstack("seed").T.to_numpy() for part in parts)
    return leak, sign * use


def _error(own: pd.DataFrame, selection: Selection) -> float:
    """The standard error that the tested rows leave the values of a selection, beside what seeds have of it."""
    cells = where(own, selection)
    if cells["metric"].map(lambda name: declared.of(name).redrawn).all():
        return 0.0
    return known(cells["error"].to_numpy(dtype=float))


def _of_area(side: tuple[np.ndarray, np.ndarray], corner: tuple[float, float], errors: Sequence[float]) -> float:
    """The same of the area that a side dominates: all its points are moved at once in leak, or in utility."""
    leak, use = (values.mean(axis=0) for values in side)
    deep, high = max(corner[0] - float(leak.min()), 0.0), max(float(use.max()) - corner[1], 0.0)
    return math.hypot(errors[0] * high, errors[1] * deep)
