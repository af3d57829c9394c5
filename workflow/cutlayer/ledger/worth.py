"""Share of the passive party's contribution to utility that a defense keeps, (u - floor) / (none - floor).

The floor is the utility without anything from the passive party: of a model whose label party returns zeros
(`send_nothing`), or of the most common class where there is no such model. Where the undefended model is not surely
above the floor by more than 2 points, the distance within which a printed utility counts as reached, there is no worth
to keep, and a share of it would be noise.

The interval of the ratio is Fieller's, of values that are paired by seed: the ratios r for which the mean of
(u - floor) - r (none - floor) is not surely other than 0.

Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16, 1954.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from cutlayer.plan.sweeps import UNDEFENDED

from .statistics import CONFIDENCE, Estimate, Sample

MARGIN = 0.02
WORTHLESS = "no worth to keep"
KEPT = "kept"  # the metric's name in exhibits


def lacking(worth: np.ndarray) -> str:
    """Reason why the passive party contributes too little, from undefended minus floor utility (seeds,); else empty."""
    found = Sample(worth).estimate()
    if (found.low if len(worth) > 1 else found.mean) > MARGIN:
        return ""
    interval = f"{found.mean:.3f} ({found.low:.3f} to {found.high:.3f})"
    return f"{WORTHLESS}: without a defense the utility is {interval} above the floor, not surely more than {MARGIN}"


def kept(useful: np.ndarray, worth: np.ndarray, ratio: float = 1.0, parts: float = 1.0) -> Estimate:
    """Ratio of the means of `useful` and `worth` (seeds,), both above the floor, with Fieller's interval.

    It is that of one of several `parts`, with this `ratio` of the scatter of seeds. A single seed has no interval.
    """
    mean = useful.mean(), worth.mean()
    share = float(mean[0] / mean[1])
    if len(worth) < 2:
        return Estimate(share, math.nan, math.nan)
    squared = float(stdtrit(len(worth) - 1, 1 - (1 - CONFIDENCE) / 2 / parts)) ** 2 * ratio**2 / len(worth)
    spread = squared * np.cov(useful, worth)
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
    by_seed = {row["defense"]: pd.Series(row["each"], dtype=float) for row in useful.to_dict("records")}
    if not {UNDEFENDED, floor} <= {*by_seed}:
        return
    worth = (by_seed[UNDEFENDED] - by_seed[floor]).dropna()
    why = lacking(worth.to_numpy())
    for row in useful.to_dict("records"):
        above = (pd.Series(row["each"], dtype=float) - by_seed[floor]).reindex(worth.index).dropna()
        found = Estimate(math.nan, math.nan, math.nan)
        if not why:
            found = kept(above.to_numpy(), worth[above.index].to_numpy())
        each = {} if why else {int(str(seed)): share for seed, share in (above / worth.mean()).items()}
        numbers: dict[Any, Any] = {"metric": KEPT, "skipped": why, "each": each, "error": 0.0, "rows": 0.0}
        numbers |= {"mean": found.mean, "low": found.low, "high": found.high}
        yield row | numbers
