"""Trade-offs: difference of two defenses in utility at equal leak, or in leak at equal utility.

The curve of a defense has a point for each setting of its sweep, of one seed, and is linear between neighboring ones. A
setting that leaks more and is less useful than another one is no trade-off that anybody would take: so a curve has only
the settings of the Pareto front, that is the best utility at a leak of at most x (the least leak at a utility of at
least y), and is level from the last of them on to the end of the sweep. Which settings these are is chosen on the other
seeds, as attacks are. The front of the very values that are compared would take what noise has lifted: of two sweeps of
one curve the noisier one, or the one of more settings, was then said to be better in up to two thirds of simulated
cases (workflow/benchmarks/verdicts.md has those of this rule).

Two curves are compared over the range that both sweeps reach, seed by seed, where nothing is extrapolated; a defense
with a single setting is compared at that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Curve:
    """One seed's Pareto front (k,): `value` at increasing `held`, the quantity that is compared at equal levels, from
    `least` on. Larger is better for both.
    """

    held: np.ndarray
    value: np.ndarray
    least: float
    alone: bool  # whether the sweep is a single setting

    def at(self, places: np.ndarray) -> np.ndarray:
        """Values of the curve at places within its range."""
        return np.interp(places, self.held, self.value)

    @property
    def steepness(self) -> float:
        """Mean slope of the curve; 0 for a single point."""
        length = float(self.held[-1] - self.held[0])
        return float(abs(self.value[-1] - self.value[0])) / length if length else 0.0


def curves(held: np.ndarray, value: np.ndarray) -> Iterator[Curve]:
    """Trade-off curve of each seed, from the metric held equal and the compared one (seeds, settings)."""
    for seed in range(len(held)):
        kept = best_settings(
            *(np.delete(each, seed, axis=0).mean(axis=0) if len(held) > 1 else each[0] for each in (held, value))
        )
        kept = kept[np.argsort(held[seed][kept], kind="stable")]
        yield Curve(held[seed][kept], value[seed][kept], float(held[seed].min()), held.shape[1] == 1)


def best_settings(held: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Indices (K,) of the settings on the Pareto front."""
    order = np.lexsort([-value, -held])
    best = np.maximum.accumulate(value[order])
    return order[np.append(True, best[1:] > best[:-1])]


def advantage(left: Curve, right: Curve) -> float:
    """Mean of left minus right over the common range of two curves; nan if there is none.

    The difference of two curves is linear between their settings, so that the mean is exact.
    """
    low, high = max(left.least, right.least), float(min(left.held[-1], right.held[-1]))
    if low > high or (low == high and not (left.alone or right.alone)):
        return float("nan")
    inside = [place for curve in (left, right) for place in curve.held if low < place < high]
    places = np.unique([low, high, *inside])
    apart = left.at(places) - right.at(places)
    return float(np.trapezoid(apart, places) / (high - low)) if low < high else float(apart[0])
