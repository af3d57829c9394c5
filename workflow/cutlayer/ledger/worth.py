"""Share of the passive party's contribution to utility that a defense keeps, (u - floor) / (none - floor).

The floor is the utility without anything from the passive party: of a model whose label party returns zeros
(`send_nothing`), or of the most common class where there is no such model. Where the undefended model is not surely
above the floor by more than 2 points, the distance within which a printed utility counts as reached, there is no worth
to keep, and a share of it would be noise.

The interval of the ratio is Fieller's, of values that are paired by seed: the ratios r for which the mean of
(u - floor) - r (none - floor) is not surely other than 0, by the scatter of seeds and the finite number of tested rows.

Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16, 1954.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from cutlayer.metrics import declared
from cutlayer.plan.sweeps import UNDEFENDED

from .row_errors import alone, of_both
from .sides import Pair, Side
from .statistics import CONFIDENCE, Estimate, Sample

MARGIN = 0.02
NONE = np.zeros((2, 2))  # errors of rows that are not known
WORTHLESS = "no worth to keep"
KEPT = "kept"  # the metric's name in exhibits


def errors_of(useful: Side, none: Side, floor: Side | None = None) -> np.ndarray:
    """Covariance (2, 2) that the tested rows leave of u - floor and none - floor; without a floor, above a constant.

    It follows from the variances of the two and of their difference, none - u.
    """
    if np.array_equal(useful.value, none.value):
        return np.full((2, 2), _of(none, floor) ** 2)
    first, second, between = (_of(*pair) ** 2 for pair in ((useful, floor), (none, floor), (none, useful)))
    most = math.sqrt(first * second)
    cross = min(max((first + second - between) / 2, -most), most)
    return np.array([[first, cross], [cross, second]])


def _of(left: Side, right: Side | None) -> float:
    pair = Pair(left, right)
    return alone(left) if right is None else of_both(pair, float(pair.by_seed(pair.value).mean()))


def lacking(worth: np.ndarray, errors: np.ndarray = NONE) -> str:
    """Reason why the passive party contributes too little, from undefended minus floor utility (seeds,); else empty.

    `errors` is what `errors_of` returns.
    """
    found = Sample(worth, math.sqrt(errors[1, 1])).estimate()
    if (found.low if len(worth) > 1 else found.mean) > MARGIN:
        return ""
    interval = f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f})"
    return f"{WORTHLESS}: without a defense the utility is {interval} above the floor, not surely more than {MARGIN}"


def kept(
    useful: np.ndarray, worth: np.ndarray, errors: np.ndarray = NONE, ratio: float = 1.0, parts: float = 1.0
) -> Estimate:
    """Ratio of the means of `useful` and `worth` (seeds,), both above the floor, with Fieller's interval.

    It is that of one of several `parts`, with this `ratio` of the scatter of seeds; `errors` is what `errors_of`
    returns. A single seed has no interval.
    """
    mean = useful.mean(), worth.mean()
    share = float(mean[0] / mean[1])
    if len(worth) < 2:
        return Estimate(share, math.nan, math.nan)
    tail = 1 - (1 - CONFIDENCE) / 2 / parts
    of_seeds, of_rows = float(stdtrit(len(worth) - 1, tail)) ** 2 * ratio**2 / len(worth), float(ndtri(tail)) ** 2
    spread = of_seeds * np.cov(useful, worth) + of_rows * errors
    least, cross, most = (mean[0] ** 2 - spread[0, 0], mean[0] * mean[1] - spread[0, 1], mean[1] ** 2 - spread[1, 1])
    if most <= 0:  # the worth may be 0, and the ratio anything
        return Estimate(share, -math.inf, math.inf)
    reach = math.sqrt(max(cross**2 - most * least, 0.0))
    return Estimate(share, float((cross - reach) / most), float((cross + reach) / most))


def with_kept(table: pd.DataFrame, rule: Mapping[str, str]) -> pd.DataFrame:
    """An exhibit's cells, as `cells.summarize` has them, and below those of each setup's `utility` the share of it that
    is kept above the `floor`, a defense; nothing of a setup where one of the three has no number.
    """
    useful = table[(table["metric"] == rule["utility"]) & (table["attack"] == "") & (table["skipped"] == "")]
    shares = [share for _, own in useful.groupby("setup", sort=False) for share in _shares(own, rule["floor"])]
    return pd.concat([table, pd.DataFrame(shares)], ignore_index=True) if shares else table


def _shares(useful: pd.DataFrame, floor: str) -> Iterator[dict[Any, Any]]:
    """What each run of a setup keeps, each seed's in shares of the mean worth; of what is worth nothing the reason."""
    runs = useful.to_dict("records")
    by_seed = {row["defense"]: pd.Series(row["each"], dtype=float) for row in runs}
    if not {UNDEFENDED, floor} <= {*by_seed}:
        return
    cells = {row["defense"]: row for row in runs}
    worth = (by_seed[UNDEFENDED] - by_seed[floor]).dropna()

    def errors(row: Mapping[Any, Any], seeds: pd.Index) -> np.ndarray:
        return errors_of(*(_side(one, seeds) for one in (row, cells[UNDEFENDED], cells[floor])))

    why = lacking(worth.to_numpy(), errors(cells[UNDEFENDED], worth.index))
    for row in runs:
        above = (pd.Series(row["each"], dtype=float) - by_seed[floor]).reindex(worth.index).dropna()
        found = Estimate(math.nan, math.nan, math.nan)
        if not why:
            found = kept(above.to_numpy(), worth[above.index].to_numpy(), errors(row, above.index))
        each = {} if why else {int(str(seed)): share for seed, share in (above / worth.mean()).items()}
        numbers: dict[Any, Any] = {"metric": KEPT, "skipped": why, "each": each, "error": 0.0, "rows": 0.0}
        numbers |= {"mean": found.mean, "low": found.low, "high": found.high}
        yield row | numbers


def _side(row: Mapping[Any, Any], seeds: pd.Index) -> Side:
    """The side of a check that a cell of an exhibit is, of some seeds."""
    values, every = np.array([row["each"][seed] for seed in seeds]), np.ones(len(seeds))
    error, rows, few = every * row["error"], every * row["rows"], every * math.nan
    redrawn = declared.of(row["metric"]).redrawn
    return Side(seeds.to_numpy(), 0 * every, values, error, rows, few, row["kind"], redrawn)
