"""Means over seeds with confidence intervals, and simultaneous tests of several means against one limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.special import expit, logit, ndtri, stdtr, stdtrit

CONFIDENCE = 0.95
LEVEL = (1 - CONFIDENCE) / 2  # of a p-value: what is left out at one end of an interval
ROUNDING = 1e-9  # values that are closer than this are equal: one processor rounds them up, another down


@dataclass(frozen=True)
class Estimate:
    """A mean and the ends of its interval, nan for a single seed."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Unit:
    """Scale of values in [0, 1], or of a share or an AUC minus a constant.

    A value is sign * (share - shift). `rows` decide about one value (of an AUC those of the rarer class; 0: unknown),
    and `largest` is the largest standard error that one value can have, over sqrt(share (1 - share) / rows).
    """

    rows: float = 0.0
    largest: float = 1.0
    shift: float = 0.0
    sign: float = 1.0

    def ends(self, values: np.ndarray, spread: float, error: float, confidence: float) -> tuple[float, float]:
        """Interval of the mean, computed on the logit scale, so that it stays within the range of shares."""
        center, slope = self.center(values)
        if slope == 0:  # all are 0 or all are 1, of nobody knows how many rows
            return float(values.mean()), float(values.mean())
        of_seeds, of_rows = _quantiles(confidence, len(values) - 1)
        reach = math.hypot(of_seeds * self.spread(values, spread), of_rows * error) / slope
        share = self.sign * float(values.mean()) + self.shift
        low = min(share, float(expit(logit(center) - reach)))
        high = max(share, float(expit(logit(center) + reach)))
        ends = self.sign * (low - self.shift), self.sign * (high - self.shift)
        return min(ends), max(ends)

    def spread(self, values: np.ndarray, spread: float) -> float:
        """Standard error of the mean share, at least that of its rows alone."""
        count = len(values) * self.rows
        return max(spread, self.largest * math.sqrt(self.center(values)[1] / count)) if count else spread

    def center(self, values: np.ndarray) -> tuple[float, float]:
        """Mean share, moved half a row towards 1/2, and the slope of the logistic function there."""
        share, count = self.sign * float(values.mean()) + self.shift, len(values) * self.rows
        center = (count * share + 0.5) / (count + 1) if count else share
        center = min(max(center, 0.0), 1.0)
        return center, center * (1 - center)


@dataclass(frozen=True)
class Sample:
    """A sample: one value per seed, with the sampling error of the tested rows.

    `error` is the standard error that their mean keeps however many seeds there are, as if they tested the same rows.
    They split one file anew, so that their test sets share rows, and their training sets most: the error of the mean
    falls with the seeds, to what is not known from cells, and not to 0. So the interval is rather too long than too
    short. `own` is the error of a single value, which its draws alone leave: seeds that happen to lie close are no
    surer than that.
    A fact of the data is exact: no draw is involved, and its interval is the point itself.
    """

    values: np.ndarray
    error: float = 0.0
    exact: bool = False
    own: float = 0.0
    unit: Unit | None = None
    ends: tuple[float, float] = (-math.inf, math.inf)  # the least and the greatest value

    def __neg__(self) -> Sample:
        unit = self.unit and replace(self.unit, sign=-self.unit.sign)
        return replace(self, values=-self.values, unit=unit, ends=(-self.ends[1], -self.ends[0]))

    def less(self, limit: float) -> Sample:
        """The sample minus a constant."""
        unit = self.unit and replace(self.unit, shift=self.unit.shift + self.unit.sign * limit)
        return replace(self, values=self.values - limit, unit=unit, ends=(self.ends[0] - limit, self.ends[1] - limit))

    def drawn_together(self, ratio: float) -> Sample:
        """The sample with the same mean and this fraction of the scatter of seeds."""
        mean = self.values.mean()
        unit = self.unit and replace(self.unit, largest=self.unit.largest * ratio)
        return replace(self, values=mean + (self.values - mean) * ratio, own=self.own * ratio, unit=unit)

    @property
    def spread(self) -> float:
        """Standard error of the mean over seeds."""
        return max(float(self.values.std(ddof=1)), self.own) / math.sqrt(len(self.values))

    def estimate(self, parts: float = 1) -> Estimate:
        """Mean and interval; with several simultaneous `parts` each has a share of the 5% (Bonferroni)."""
        mean, confidence = float(self.values.mean()), 1 - (1 - CONFIDENCE) / parts
        if self.exact:
            return Estimate(mean, mean, mean)
        if len(self.values) < 2:
            return Estimate(mean, math.nan, math.nan)
        if self.unit:
            return Estimate(mean, *self.unit.ends(self.values, self.spread, self.error, confidence))
        of_seeds, of_rows = _quantiles(confidence, len(self.values) - 1)
        reach = math.hypot(of_seeds * self.spread, of_rows * self.error)
        least, most = self.ends
        return Estimate(mean, max(mean - reach, min(least, mean)), min(mean + reach, max(most, mean)))

    def below(self) -> float:
        """P-value of the hypothesis that the mean is not below 0; a mean of 0 up to rounding is not below."""
        mean = float(self.values.mean())
        if abs(mean) <= ROUNDING or (len(self.values) < 2 and not self.exact):
            return 1.0
        if self.exact:
            return float(mean > 0)
        spread, distance = self.spread, mean
        if self.unit and 0 < self.unit.shift < 1 and self.unit.center(self.values)[1] > 0:
            center, slope = self.unit.center(self.values)
            spread = self.unit.spread(self.values, spread)
            distance = self.unit.sign * float(logit(center) - logit(self.unit.shift)) * slope
        spread = math.hypot(spread, self.error)
        return float(stdtr(len(self.values) - 1, distance / spread)) if spread else float(mean > 0)


def interval(values: Sequence[float] | np.ndarray, error: float = 0.0) -> tuple[float, float, float]:
    """Mean and Student's t interval; a single value has no interval (ends are nan).

    `error` is the standard error that the finite number of tested rows leaves however many seeds there are; the two
    reaches are independent, so that their squares add.
    """
    found = Sample(np.asarray(values, dtype=float), error).estimate(1)
    return found.mean, found.low, found.high


@cache
def _quantiles(confidence: float, freedom: int) -> tuple[float, float]:
    """Quantiles of Student's distribution and of the normal one."""
    tail = (1 + confidence) / 2
    return float(stdtrit(freedom, tail)), float(ndtri(tail))


def smallest_of_largest(samples: Sequence[Sequence[Sample]], parts: float = 1) -> Estimate:
    """Interval of min over i of max over j of the means mu[i][j], one of several `parts`.

    It covers with 95% on either side what it says of that side, without knowing which i and j it is: a lower end above
    the truth means that some j of the best i is too high (each has its share of the level), an upper end below it that
    some i has its largest j too low. So nothing is gained from the noise of many settings, as it is when the least of
    each seed is taken.
    """
    rows, columns = len(samples), len(samples[0])
    mean = min(max(sample.values.mean() for sample in row) for row in samples)
    low = min(max(sample.estimate(columns * parts).low for sample in row) for row in samples)
    high = min(max(sample.estimate(rows * parts).high for sample in row) for row in samples)
    return Estimate(float(mean), low, high)


def at_places(places: Sequence[Callable[[float], Estimate]], largest: bool, parts: float = 1) -> Estimate:
    """Interval of the largest (or least) of the means at several places; a place gives its own for some parts."""
    alone, shared = ([place(parts * count) for place in places] for count in (1, len(places)))
    pick = max if largest else min
    sure, unsure = (shared, alone) if largest else (alone, shared)
    return Estimate(pick(e.mean for e in alone), pick(e.low for e in sure), pick(e.high for e in unsure))


def surely(samples: Sequence[Sequence[Sequence[Sample]]], level: float = LEVEL) -> int:
    """Number of places where the min over i of max over j of the means mu[place][i][j] is below 0, with 97.5%.

    Partial conjunction: that at least k of m places are so is shown where Holm's procedure rejects k of them, which
    needs no independence. Of several rows one is enough, so that they share the level.

    Benjamini, Heller, "Screening for partial conjunction hypotheses", Biometrics 64, 2008.
    """
    tests = [min(1.0, len(rows) * min(max(one.below() for one in row) for row in rows)) for rows in samples]
    return sum(holm(tests, level))


def holm(values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Mask of the p-values rejected by Holm's procedure at a level; valid under any dependence.

    The k-th smallest of m has to be at most level / (m - k + 1), and so has each before it.

    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.
    """
    order, found = sorted(range(len(values)), key=lambda place: values[place]), [False] * len(values)
    for tested, place in enumerate(order):
        if not (len(values) - tested) * values[place] <= level:
            break
        found[place] = True
    return found
