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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import linregress

from .asked import Check, undefended, where
from .chance import LOG_LOSS
from .sides import Pair, pairs, place_by_place
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
    with_scatter: Callable[[float], Compared] | None = None  # the same with that share of the scatter of seeds


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

    def found(ratio: float) -> Compared:
        estimate = _nested(check, _drawn(samples, ratio))
        return _the_same(estimate, _tied(estimate, NEUTRAL.get(statistic), sides[0][0]))

    return _with_scatter(found)


def _with_scatter(found: Callable[[float], Compared]) -> Compared:
    return replace(found(1.0), with_scatter=found)


def _drawn(samples: Sequence[Sequence[Sample]], ratio: float) -> list[list[Sample]]:
    return [[one.drawn_together(ratio) for one in row] for row in samples]


def _the_same(estimate: Estimate, tie: str = "") -> Compared:
    return Compared(estimate, estimate, estimate, tie=tie)


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
        error = _of_shares(pair, float(values.mean()) * span) / span if pair.left.share else 0.0
        return Sample(values, error, pair.exact)
    if statistic == "ratio" and pair.right:
        left, right = pair.by_seed(pair.left.value), pair.by_seed(pair.right.value)
        return Sample(left / np.where(right == 0, np.nan, right), exact=pair.exact)
    values = pair.by_seed(pair.value)
    return Sample(values, _row_error(pair, float(values.mean())), pair.exact)


def _slope(places: np.ndarray, values: np.ndarray) -> float:
    known = ~np.isnan(places)
    if len(np.unique(places[known])) < 2:
        return float("nan")
    return float(linregress(places[known], values[known]).slope)


def _row_error(pair: Pair, difference: float) -> float:
    """The standard error that the number of tested rows leaves, as if all seeds and places tested the same rows."""
    if pair.right is None:
        return _known(pair.left.error)
    if pair.left.share and pair.right.share:
        return _of_shares(pair, difference)
    return _known(pair.left.error) if pair.left.share else _known(pair.right.error) if pair.right.share else 0.0


def _known(errors: np.ndarray) -> float:
    """The mean of those that are known; 0 if none is."""
    known = errors[~np.isnan(errors)]
    return float(known.mean()) if len(known) else 0.0


def _of_shares(pair: Pair, difference: float) -> float:
    """The same of a difference of shares of the same rows; 0 where their number is not known.

    They differ in at least |difference| of the rows, which is all that is known of how many differ. Without it a
    difference of one row in each of three seeds would be certain.
    """
    share = min(abs(difference), 1.0)
    return float(np.sqrt(share * (1 - share) / pair.tested)) if pair.tested > 0 else 0.0


def _nested(check: Check, samples: Sequence[Sequence[Sample]], parts: int = 1) -> Estimate:
    """The least (or greatest) left side against the least (or greatest) right side."""
    if check.get("of_several") != "most":
        return smallest_of_largest(samples, parts)
    turned = [[-one for one in row] for row in samples]
    found = smallest_of_largest(turned, parts)
    return Estimate(-found.mean, -found.high, -found.low)


def _every(check: Check, sides: Sequence[Sequence[Pair]]) -> Compared:
    """Each place on its own; the largest is held against `at_most`, the least against `at_least`."""
    at = _gaps(sides)

    def found(ratio: float) -> Compared:
        places = [partial(_nested, check, _drawn(here, ratio)) for here in at]
        largest, least = (at_places(places, top) for top in (True, False))
        shown = {(True, False): largest, (False, True): least}.get(("at_most" in check, "at_least" in check))
        return Compared(shown or Estimate(largest.mean, least.low, largest.high), largest, least)

    return _with_scatter(found)


def _shares(sides: Sequence[Sequence[Pair]]) -> Compared:
    """The share of the places where the least left side is below the least right one, at least and at most."""
    at = _gaps(sides)
    means = [min(max(float(one.values.mean()) for one in row) for row in here) for here in at]
    share = sum(mean < -ROUNDING for mean in means) / len(at)
    if len(at[0][0][0].values) < 2 and not at[0][0][0].exact:
        return _the_same(Estimate(share, float("nan"), float("nan")))
    tie = "equal at every place" if max(map(abs, means)) <= ROUNDING else ""

    def found(ratio: float) -> Compared:
        drawn = [_drawn(here, ratio) for here in at]
        turned = [[[-one for one in row] for row in zip(*here, strict=True)] for here in drawn]
        return _the_same(Estimate(share, surely(drawn) / len(at), 1 - surely(turned) / len(at)), tie)

    return _with_scatter(found)


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

    def difference(places: np.ndarray) -> float:
        reference = float(worst.iloc[places].mean()), float(chance.iloc[places].mean())
        areas = [hypervolume(leak[places].mean(axis=0), use[places].mean(axis=0), *reference) for leak, use in sides]
        return areas[0] - areas[1]

    sample = Sample(jackknife(difference, len(worst)))

    def found(ratio: float) -> Compared:
        estimate = sample.drawn_together(ratio).estimate()
        equal = abs(estimate.low) <= ROUNDING and abs(estimate.high) <= ROUNDING
        return _the_same(estimate, "both sides dominate the same area" if equal else "")

    return _with_scatter(found)


def _curve(own: pd.DataFrame, check: Check, side: Any, sign: float) -> tuple[np.ndarray, np.ndarray]:
    """Leak and utility (seeds, settings) of a defense."""
    parts = [where(own, {**side, **check[name]}).groupby(POINTS)["value"].mean() for name in ("leak", "utility")]
    leak, use = (part.unstack("seed").T.to_numpy() for part in parts)
    return leak, sign * use
