"""Estimates: the statistic of a check, as a mean over seeds with its 95% interval.

`value` is the mean of the left side and `slope` that of its least-squares line over the exhibit's axis; with a right
side `gap` is left minus right, place by place, `ratio` that of the means, and `share_below` the share of the places
where the left side is surely below, of those that are not exactly equal in every seed. `at_equal_leak` is by how much
more utility the left defense has where both leak alike, `at_equal_utility` by how much more it leaks where both are as
useful, each on the curve of each seed (see `tradeoff`); `kept` is the share of the passive party's worth that the left
side keeps (see `worth`). All are of means over seeds, at the first or last place of the
axis with `at`, or with `at: every` at each of them.
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
from cutlayer.plan.check_lines import AT_EQUAL

from . import worth
from .check_cells import Check, undefended, where
from .row_errors import alone, of_both, of_ratio
from .samples import EVERYWHERE, known, of_values, unit
from .sides import Pair, pairs, place_by_place
from .statistics import LEVEL, ROUNDING, Estimate, Sample, at_places, smallest_of_largest, surely
from .tradeoff import Curve, advantage, curves

UNKNOWN = Estimate(float("nan"), float("nan"), float("nan"))
POINTS = ["seed", "defense", "setting"]
WORST = {"largest", "largest_gap"}
NEUTRAL = {"gap": 0.0, "slope": 0.0, "ratio": 1.0} | dict.fromkeys(AT_EQUAL, 0.0)  # neither side is more than the other
PROVEN = "bound"  # of a check whose limit is a theorem's
APART = "the fronts of both sweeps, chosen on the other seeds, have no or only one common point of"


@dataclass(frozen=True)
class Compared:
    """Estimates of a check: the shown one, those compared with `at_most` and `at_least`; or why there is none."""

    shown: Estimate
    largest: Estimate
    least: Estimate
    why: str = ""
    tie: str = ""
    refutes: float = math.nan  # of the left side's excess over a bound the p-value; nan where there is none
    # the same with that share of the scatter of seeds, and as one of so many parts that share the level
    again: Callable[[float, float], Compared] | None = None


NOTHING = Compared(UNKNOWN, UNKNOWN, UNKNOWN)


def compared(check: Check, own: pd.DataFrame) -> Compared:
    """Statistic of a check in the cells of one setup, all of which exist."""
    statistic = check["statistic"]
    if statistic in AT_EQUAL:
        return _traded(check, own)
    if statistic == "kept":
        return _kept(check, own)
    sides = pairs(check, own)
    if statistic in WORST:
        worst = max(float(np.fmax.reduce(pair.value)) for row in sides for pair in row)
        exact = _the_same(Estimate(worst, worst, worst))
        return replace(exact, refutes=float(not beyond(check, worst))) if PROVEN in check else exact
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
        tie = _tied(estimate, NEUTRAL.get(statistic), sides, samples)
        return replace(_the_same(estimate, tie), refutes=_excess(check, sides, samples))

    return _repeatable(found)


def _repeatable(found: Callable[[float, float], Compared]) -> Compared:
    return replace(found(1.0, 1), again=found)


def _drawn(samples: Sequence[Sequence[Sample]], ratio: float) -> list[list[Sample]]:
    return [[one.drawn_together(ratio) for one in row] for row in samples]


def _the_same(estimate: Estimate, tie: str = "") -> Compared:
    return Compared(estimate, estimate, estimate, tie=tie)


def _excess(check: Check, sides: Sequence[Sequence[Pair]], samples: Sequence[Sequence[Sample]]) -> float:
    """The p-value of a left side that is not above the bound that is the right side, or of what is proven to be within
    its limits; nan where it is neither.
    """
    right, sample = sides[0][0].right, samples[0][0]
    if PROVEN in check:
        tests = [(-sample.less(check["at_most"])).below()] if "at_most" in check else []
        tests += [sample.less(check["at_least"]).below()] if "at_least" in check else []
        return min(1.0, len(tests) * min(tests))
    alone = len(sides) == len(sides[0]) == 1
    return (-sample).below() if alone and right is not None and right.kind == declared.BOUND else math.nan


def beyond(check: Check, value: float) -> bool:
    """True if a value is beyond a limit by more than rounding."""
    least, most = check.get("at_least", -math.inf), check.get("at_most", math.inf)
    return not least - ROUNDING <= value <= most + ROUNDING


def _tied(found: Estimate, neutral: float | None, sides: Sequence[Sequence[Pair]], samples: Sequence[Any]) -> str:
    """Reason for a tie (both sides, of several the best, are equal in each of several seeds); else empty."""
    if neutral is None or math.isnan(found.low) or abs(found.mean - neutral) > ROUNDING:
        return ""
    for pairs_of, own in zip(sides, samples, strict=True):
        for pair, sample in zip(pairs_of, own, strict=True):
            if np.abs(sample.values - neutral).max() <= ROUNDING:
                return f"equal in each of {len(sample.values)} seeds ({np.nanmean(pair.left.value):.4g})"
    return ""


def _sample(statistic: str, pair: Pair) -> Sample:
    """Values by seed, NaN where there is nothing to compare."""
    if statistic == "slope":
        values, places = np.array([_slope(*line) for line in pair.lines()]), pair.left.place
        span = float(np.ptp(places[~np.isnan(places)])) or 1.0
        first_and_last = Pair(pair.left, pair.left)
        return Sample(values, of_both(first_and_last, float(values.mean()) * span) / span, pair.exact)
    if statistic == "ratio" and pair.right:
        left, right = pair.by_seed(pair.left.value), pair.by_seed(pair.right.value)
        values = left / np.where(right == 0, np.nan, right)
        return Sample(values, of_ratio(pair, float(values.mean())), pair.exact)
    if pair.right is None:
        return of_values(pair.left.kind, pair.by_seed(pair.value), pair.left.error, pair.left.rows, pair.exact)
    return _difference(pair)


def _difference(pair: Pair) -> Sample:
    """Left minus right; if the right side is an exact number, the left one's interval shifted by it.

    To a bound the seeds are draws of one mechanism, each on rows of its own draws: what matters is their scatter, which
    is not less than what the rows of one of them leave.
    """
    values, right = pair.by_seed(pair.value), pair.right
    assert right is not None
    if pair.left.kind == declared.BOUND != right.kind:
        return -_difference(Pair(right, pair.left))
    within = {pair.left.kind, right.kind} <= declared.IN_UNIT
    ends = (-1.0, 1.0) if within else EVERYWHERE
    if right.kind not in (declared.BOUND, declared.CHANCE):
        return Sample(values, of_both(pair, float(values.mean())), pair.exact, ends=ends)
    bound = right.kind == declared.BOUND
    error, own = (0.0, alone(pair.left)) if bound else (known(pair.left.error), 0.0)
    constant = within and float(np.ptp(right.value)) <= ROUNDING
    shift = unit(pair.left.kind, pair.left.rows, float(right.value.mean())) if constant else None
    return Sample(values, error, pair.exact, own, shift, ends)


def _slope(places: np.ndarray, values: np.ndarray) -> float:
    known = ~np.isnan(places)
    if len(np.unique(places[known])) < 2:
        return float("nan")
    return float(linregress(places[known], values[known]).slope)


def _nested(check: Check, samples: Sequence[Sequence[Sample]], parts: float = 1) -> Estimate:
    """Estimate of the least (or greatest) left side compared with the least (or greatest) right side."""
    if check.get("of_several") != "most":
        return smallest_of_largest(samples, parts)
    turned = [[-one for one in row] for row in samples]
    found = smallest_of_largest(turned, parts)
    return Estimate(-found.mean, -found.high, -found.low)


def _every(check: Check, sides: Sequence[Sequence[Pair]]) -> Compared:
    """Estimates at each place; the largest is compared with `at_most`, the least with `at_least`."""
    at = _gaps(sides)

    def found(ratio: float, parts: float) -> Compared:
        places = [partial(_nested, check, _drawn(here, ratio)) for here in at]
        largest, least = (at_places(places, top, parts) for top in (True, False))
        shown = {(True, False): largest, (False, True): least}.get(("at_most" in check, "at_least" in check))
        return Compared(shown or _of_both_ends(check, largest, least), largest, least)

    return _repeatable(found)


def _of_both_ends(check: Check, largest: Estimate, least: Estimate) -> Estimate:
    """Mean of the place that is the farthest from the middle of both limits, with the ends of all intervals."""
    middle = (check.get("at_most", 0.0) + check.get("at_least", 0.0)) / 2
    farthest = max(largest.mean, least.mean, key=lambda mean: abs(mean - middle))
    return Estimate(farthest, least.low, largest.high)


def _shares(sides: Sequence[Sequence[Pair]]) -> Compared:
    """Share of the places where the least left side is below the least right one, as an interval.

    A place where they are equal in every seed, as where both make no error, is left out.
    """
    everywhere = _gaps(sides)
    unequal = [samples for samples in everywhere if not _equal(samples)]
    at, tie = (unequal, "") if unequal else (everywhere, "equal at every place")
    means = [min(max(float(one.values.mean()) for one in row) for row in samples) for samples in at]
    share = sum(mean < -ROUNDING for mean in means) / len(at)
    if len(at[0][0][0].values) < 2 and not at[0][0][0].exact:
        return _the_same(Estimate(share, float("nan"), float("nan")))

    def found(ratio: float, parts: float) -> Compared:
        drawn = [_drawn(samples, ratio) for samples in at]
        turned = [[[-one for one in row] for row in zip(*samples, strict=True)] for samples in drawn]
        below, above = (surely(way, LEVEL / parts) / len(at) for way in (drawn, turned))
        return _the_same(Estimate(share, below, 1 - above), tie)

    return _repeatable(found)


def _equal(samples: Sequence[Sequence[Sample]]) -> bool:
    """True for each seed in which the least left side equals the least right one."""
    apart = np.min([np.max([one.values for one in row], axis=0) for row in samples], axis=0)
    return bool(np.abs(apart).max() <= ROUNDING)


def _gaps(sides: Sequence[Sequence[Pair]]) -> list[list[list[Sample]]]:
    """Differences of all left and right sides, place by place."""
    return [[[_sample("gap", pair) for pair in row] for row in here] for here in place_by_place(sides)]


def _kept(check: Check, own: pd.DataFrame) -> Compared:
    """Share of the passive party's utility that the left side keeps, above the right side or, without one, chance."""
    none = where(own, undefended(check)).groupby("seed")
    floor = where(own, check["right"]).groupby("seed")["value"] if "right" in check else none["chance"]
    useful = where(own, check["left"]).groupby("seed")["value"].mean() - floor.mean()
    worth_of = (none["value"].mean() - floor.mean()).to_numpy()
    named = {"useful": check["left"], "none": undefended(check)} | (
        {"floor": check["right"]} if "right" in check else {}
    )
    errors = worth.errors_of(**{name: pairs({"left": one}, own)[0][0].left for name, one in named.items()})
    why = worth.lacking(worth_of, errors)
    if why:
        return Compared(UNKNOWN, UNKNOWN, UNKNOWN, why)
    return _repeatable(lambda ratio, parts: _the_same(worth.kept(useful.to_numpy(), worth_of, errors, ratio, parts)))


def _traded(check: Check, own: pd.DataFrame) -> Compared:
    """Difference in utility at equal leak, or in leak at equal utility.

    The rows that were tested move a curve along either axis: along that of what is held equal by its error times how
    much the other changes with it.
    """
    axes = ("leak", "utility") if check["statistic"] == "at_equal_leak" else ("utility", "leak")
    sides = [_curves(own, check, check[key], axes) for key in ("left", "right")]
    values = np.array([advantage(left, right) for left, right in zip(*sides, strict=True)])
    lost = int(np.isnan(values).sum())
    if lost:
        return Compared(UNKNOWN, UNKNOWN, UNKNOWN, f"in {lost} of {len(values)} seeds {APART} {axes[0]}")
    values = values if axes[0] == "leak" else -values
    held, value = (pairs({key: {**check[key], **check[axis]} for key in ("left", "right")}, own)[0][0] for axis in axes)
    steep = float(np.mean([curve.steepness for side in sides for curve in side]))
    errors = of_both(value, float(values.mean())), steep * of_both(held, float(held.by_seed(held.value).mean()))
    sample = Sample(values, math.hypot(*errors), held.exact)

    def found(ratio: float, parts: float) -> Compared:
        estimate = sample.drawn_together(ratio).estimate(parts)
        return _the_same(estimate, "" if np.abs(values).max() > ROUNDING else f"equal in each of {len(values)} seeds")

    return _repeatable(found)


def _curves(own: pd.DataFrame, check: Check, side: Any, axes: Sequence[str]) -> list[Curve]:
    """Trade-off curve of a defense in each seed, of the settings that have both; a larger leak or error is worse."""
    parts = []
    for axis in axes:
        values = where(own, {**side, **check[axis]}).groupby(POINTS)["value"].mean().unstack("seed")
        parts.append(-values if declared.of(check[axis]["metric"]).better == "down" else values)
    both = parts[0].index.intersection(parts[1].index)
    return [*curves(*(values.loc[both].T.to_numpy() for values in parts))]
