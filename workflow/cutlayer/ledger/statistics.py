"""Means over seeds with their uncertainty, and how several of them are held against one limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import stats

CONFIDENCE = 0.95
ROUNDING = 1e-9  # values that are closer than this are equal: one processor rounds them up, another down


@dataclass(frozen=True)
class Estimate:
    """A mean and the ends of its interval, nan where one seed alone gives none."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Sample:
    """One value a seed, and by how much (standard error) other tested rows would move their mean.

    A fact of the data is exact: no draw is involved, and its interval is the point itself.
    """

    values: np.ndarray
    error: float = 0.0
    exact: bool = False

    def __neg__(self) -> Sample:
        return Sample(-self.values, self.error, self.exact)

    def drawn_together(self, ratio: float) -> Sample:
        """The same mean with this share of the scatter of seeds."""
        mean = self.values.mean()
        return Sample(mean + (self.values - mean) * ratio, self.error, self.exact)

    def estimate(self, parts: int = 1) -> Estimate:
        """Mean and interval; of several `parts` that are to hold together each has a share of the 5% (Bonferroni)."""
        if self.exact:
            return Estimate(*[float(self.values.mean())] * 3)
        return Estimate(*interval(self.values, self.error, 1 - (1 - CONFIDENCE) / parts))


def interval(
    values: Sequence[float] | np.ndarray, error: float = 0.0, confidence: float = CONFIDENCE
) -> tuple[float, float, float]:
    """Mean and the ends of Student's interval; one value alone has no interval (ends are nan).

    `error` is the standard error that the finite number of tested rows leaves however many seeds there are; the two
    reaches are independent, so that their squares add.
    """
    sample = np.asarray(values, dtype=float)
    mean = float(sample.mean())
    if len(sample) < 2:
        return mean, float("nan"), float("nan")
    of_seeds, of_rows = _quantiles(confidence, len(sample) - 1)
    reach = math.hypot(of_seeds * float(sample.std(ddof=1)) / math.sqrt(len(sample)), of_rows * error)
    return mean, mean - reach, mean + reach


@cache
def _quantiles(confidence: float, freedom: int) -> tuple[float, float]:
    """Of Student's distribution and of the normal one."""
    tail = (1 + confidence) / 2
    return float(stats.t.ppf(tail, freedom)), float(stats.norm.ppf(tail))


def smallest_of_largest(samples: Sequence[Sequence[Sample]], parts: int = 1) -> Estimate:
    """The interval of min over i of max over j of the means mu[i][j], one of several `parts`.

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


def at_places(places: Sequence[Callable[[int], Estimate]], largest: bool) -> Estimate:
    """The interval of the largest (or least) of the means at several places; a place gives its own for some parts."""
    alone, shared = [place(1) for place in places], [place(len(places)) for place in places]
    pick = max if largest else min
    sure, unsure = (shared, alone) if largest else (alone, shared)
    return Estimate(pick(e.mean for e in alone), pick(e.low for e in sure), pick(e.high for e in unsure))


def surely(samples: Sequence[Sequence[Sequence[Sample]]]) -> int:
    """In how many places the min over i of max over j of the means mu[place][i][j] is below 0, with 97.5%.

    Partial conjunction: that at least k of m places are so is shown by the k-th smallest p-value p where
    (m - k + 1) p is at most the level, which needs no independence.

    Benjamini, Heller, "Screening for partial conjunction hypotheses", Biometrics 64, 2008.
    """
    level = (1 - CONFIDENCE) / 2
    ordered = sorted(min(1.0, len(rows) * min(max(_below(one) for one in row) for row in rows)) for rows in samples)
    shown = [k for k, p in enumerate(ordered, start=1) if (len(ordered) - k + 1) * p <= level]
    return max(shown, default=0)


def _below(sample: Sample) -> float:
    """The p-value of the statement that the mean is not below 0; what is 0 but for rounding is not."""
    values = sample.values
    mean = float(values.mean())
    if abs(mean) <= ROUNDING or (len(values) < 2 and not sample.exact):
        return 1.0
    if sample.exact:
        return float(mean > 0)
    spread = math.hypot(values.std(ddof=1) / math.sqrt(len(values)), sample.error)
    return float(stats.t.cdf(mean / spread, len(values) - 1)) if spread else float(mean > 0)


def jackknife(statistic: Callable[[np.ndarray], float], seeds: int) -> np.ndarray:
    """Tukey's pseudo-values, one a seed, of a statistic of the places (k,) of the seeds that it is given.

    Their mean is the statistic of means with the first order of its bias taken off, their spread is its uncertainty.

    Tukey, "Bias and confidence in not quite large samples", Annals of Mathematical Statistics 29, 1958.
    """
    places = np.arange(seeds)
    whole = statistic(places)
    if seeds < 2:
        return np.array([whole])
    without = np.array([statistic(np.delete(places, place)) for place in places])
    return seeds * whole - (seeds - 1) * without
