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

from .asked import Check, Selection, selections, undefended, where
from .cells import NO_SEED, axis
from .chance import LOG_LOSS, is_share
from .statistics import ROUNDING, Estimate, Sample, at_places, jackknife, smallest_of_largest, surely
from .tradeoff import hypervolume

UNKNOWN = Estimate(float("nan"), float("nan"), float("nan"))
PLACE = ["seed", "axis"]
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
    pairs = _pairs(check, own)
    if statistic in WORST:
        worst = max(float(pair["value"].max()) for row in pairs for pair in row)
        return _the_same(Estimate(worst, worst, worst))
    if statistic == "share_below":
        return _shares(pairs)
    if check.get("at") == "every":
        return _every(check, pairs)
    samples = [[_sample(statistic, pair) for pair in row] for row in pairs]
    lost = sum(int(np.isnan(sample.values).sum()) for row in samples for sample in row)
    if lost:
        reason = "the right side is 0" if statistic == "ratio" else "there are fewer than two places"
        return Compared(UNKNOWN, UNKNOWN, UNKNOWN, f"in {lost} of {len(samples[0][0].values)} seeds {reason}")

    def found(ratio: float) -> Compared:
        estimate = _nested(check, _drawn(samples, ratio))
        return _the_same(estimate, _tied(estimate, NEUTRAL.get(statistic), pairs[0][0]))

    return _with_scatter(found)


def _with_scatter(found: Callable[[float], Compared]) -> Compared:
    return replace(found(1.0), with_scatter=found)


def _drawn(samples: Sequence[Sequence[Sample]], ratio: float) -> list[list[Sample]]:
    return [[one.drawn_together(ratio) for one in row] for row in samples]


def _the_same(estimate: Estimate, tie: str = "") -> Compared:
    return Compared(estimate, estimate, estimate, tie=tie)


def _tied(found: Estimate, neutral: float | None, pair: pd.DataFrame) -> str:
    """Why nothing tells the sides apart, if so: the difference is 0 in each of several seeds."""
    if neutral is None or not max(abs(end - neutral) for end in (found.low, found.high)) <= ROUNDING:
        return ""
    return f"equal in each of {pair['seed'].nunique()} seeds ({pair['left'].mean():.4g})"


def _pairs(check: Check, own: pd.DataFrame) -> list[list[pd.DataFrame]]:
    """For each left selection and each right one, by seed and place: value, left and right, tested, error, share.

    All sides have the same seeds and places, in the same order.
    """
    lefts, rights = ([_side(own, one) for one in selections(check.get(key, []))] for key in ("left", "right"))
    if check.get("at") in ("first", "last"):
        ends = (min if check["at"] == "first" else max)(lefts[0]["axis"])
        lefts, rights = ([side[side["axis"] == ends] for side in sides] for sides in (lefts, rights))
    if not rights:
        return [[left] for left in lefts]
    return [[_against(left, right) for right in rights] for left in lefts]


def _side(own: pd.DataFrame, selection: Selection) -> pd.DataFrame:
    """The cells of a selection, averaged over all but seed and place."""
    cells = where(own, selection)
    shares = all(_is_share(metric, chance) for metric, chance in zip(cells["metric"], cells["chance"], strict=True))
    side = cells[["seed", axis(own), "value", "error", "tested"]].set_axis([*PLACE, "value", "error", "tested"], axis=1)
    if side.duplicated(PLACE).any():
        groups = side.groupby(PLACE, dropna=False)
        side = groups[["value", "error"]].mean().assign(tested=groups["tested"].min()).reset_index()
    else:  # nothing to average: grouping takes most of a ledger's time
        side = side.sort_values(PLACE, ignore_index=True)
    return side.assign(share=shares, left=side["value"])


def _is_share(metric: str, chance: float) -> bool:
    return is_share(metric) or (metric.endswith("_utility") and chance == chance and chance != 0.5)


def _against(left: pd.DataFrame, right: pd.DataFrame) -> pd.DataFrame:
    own, other = left["left"].to_numpy(), right["left"].to_numpy()
    more = {"right": other, "value": own - other, "error_right": right["error"].to_numpy()}
    tested = np.minimum(left["tested"].to_numpy(), right["tested"].to_numpy())
    return left.assign(**more, tested=tested, share_right=right["share"].to_numpy())


def _sample(statistic: str, pair: pd.DataFrame) -> Sample:
    """One value a seed, NaN where there is nothing to compare."""
    seeds, exact = pair.groupby("seed"), bool((pair["seed"] == NO_SEED).all())
    if statistic == "slope":
        values = np.array([_slope(own["axis"].to_numpy(), own["left"].to_numpy()) for _, own in seeds])
        span = float(np.ptp(pair["axis"].dropna())) or 1.0
        error = _of_shares(pair, float(values.mean()) * span) / span if pair["share"].all() else 0.0
        return Sample(values, error, exact)
    if statistic == "ratio":
        means = seeds[["left", "right"]].mean()
        return Sample((means["left"] / means["right"].replace(0, np.nan)).to_numpy(dtype=float), exact=exact)
    values = seeds["value"].mean().to_numpy(dtype=float)
    return Sample(values, _row_error(pair, float(values.mean())), exact)


def _slope(places: np.ndarray, values: np.ndarray) -> float:
    known = ~np.isnan(places)
    if len(np.unique(places[known])) < 2:
        return float("nan")
    return float(linregress(places[known], values[known]).slope)


def _row_error(pair: pd.DataFrame, difference: float) -> float:
    """The standard error that the number of tested rows leaves, as if all seeds and places tested the same rows."""
    if "share_right" not in pair:
        return float(np.nan_to_num(pair["error"].mean()))
    left, right = bool(pair["share"].all()), bool(pair["share_right"].all())
    if left and right:
        return _of_shares(pair, difference)
    alone = pair["error"].mean() if left else pair["error_right"].mean() if right else 0.0
    return float(np.nan_to_num(alone))


def _of_shares(pair: pd.DataFrame, difference: float) -> float:
    """The same of a difference of shares of the same rows; 0 where their number is not known.

    They differ in at least |difference| of the rows, which is all that is known of how many differ. Without it a
    difference of one row in each of three seeds would be certain.
    """
    tested, share = float(pair["tested"].min()), min(abs(difference), 1.0)
    return float(np.sqrt(share * (1 - share) / tested)) if tested > 0 else 0.0


def _nested(check: Check, samples: Sequence[Sequence[Sample]], parts: int = 1) -> Estimate:
    """The least (or greatest) left side against the least (or greatest) right side."""
    if check.get("of_several") != "most":
        return smallest_of_largest(samples, parts)
    turned = [[-one for one in row] for row in samples]
    found = smallest_of_largest(turned, parts)
    return Estimate(-found.mean, -found.high, -found.low)


def _every(check: Check, pairs: Sequence[Sequence[pd.DataFrame]]) -> Compared:
    """Each place on its own; the largest is held against `at_most`, the least against `at_least`."""
    at = _at_places(pairs)

    def found(ratio: float) -> Compared:
        places = [partial(_nested, check, _drawn(here, ratio)) for here in at]
        largest, least = (at_places(places, top) for top in (True, False))
        shown = {(True, False): largest, (False, True): least}.get(("at_most" in check, "at_least" in check))
        return Compared(shown or Estimate(largest.mean, least.low, largest.high), largest, least)

    return _with_scatter(found)


def _shares(pairs: Sequence[Sequence[pd.DataFrame]]) -> Compared:
    """The share of the places where the least left side is below the least right one, at least and at most."""
    at = _at_places(pairs)
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


def _at_places(pairs: Sequence[Sequence[pd.DataFrame]]) -> list[list[list[Sample]]]:
    """The differences of all left sides and all right ones, place by place."""
    places = pairs[0][0]["axis"].unique()
    return [[[_sample("gap", pair[pair["axis"] == place]) for pair in row] for row in pairs] for place in places]


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
