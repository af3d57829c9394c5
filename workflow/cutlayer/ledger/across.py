"""Claims across datasets: evidence of several setups combined into one row, as "in any", mean or sum.

That something is so in at least one of m datasets is shown where it is in one at 1/m of the level (Holm's first step),
and that it is in none where each by itself says so. That is the interval of the largest of their means (the least, of
what is to be at most something).

A mean or a sum of setups, whose draws are independent, has the squares of their reaches added on either side.

Zou, Donner, "Construction of confidence limits about effect measures", Statistics in Medicine 27, 2008.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from .check_cells import Check
from .estimates import Compared
from .evidence import Found
from .statistics import Estimate, at_places

WEAKER = ("", "synthetic", "real", "sample", "stand-in")  # provenance, the weakest last; "" is of none
ANY, MEAN, SUM = "any", "mean", "sum"
BETWEEN = ", "  # names of datasets in one row


def together(how: str, check: Check, parts: Sequence[Found]) -> Found:
    """Findings of a check in several setups, combined: `any`, `mean` or `sum`."""
    compared = [part.compared for part in parts]
    used = pd.concat([part.used for part in parts], ignore_index=True)
    folded = sum(part.folded for part in parts) / (1 if how == SUM else len(parts))
    found = _any(check, compared) if how == ANY else _mean(how, compared)
    return Found(_facts(parts), found, used, min(part.seeds for part in parts), setups=len(parts), folded=folded)


def withheld(parts: Sequence[Found], instead: tuple[str, str]) -> Found:
    """Verdict in place of the combined one, with the reason, if a part has no verdict on numbers."""
    return Found(_facts(parts), used=parts[0].used, withheld=instead, setups=len(parts))


def _facts(parts: Sequence[Found]) -> dict[str, str]:
    """The setup is none of them; the provenance is the weakest."""
    datasets = dict.fromkeys(part.facts["dataset"] for part in parts)
    provenance = max((part.facts["provenance"] for part in parts), key=WEAKER.index)
    return {"setup": "", "dataset": BETWEEN.join(datasets), "provenance": provenance}


def _any(check: Check, parts: Sequence[Compared]) -> Compared:
    """Estimate for "in any": the largest of the least estimates, or the least of the largest; a tie is neither."""
    differ = [part for part in parts if not part.tie]
    if not differ:
        return parts[0]
    upwards = "at_least" in check

    def place(part: Compared, ratio: float, own: float, shared: float) -> Estimate:
        found = part.again(ratio, own * shared) if part.again else part
        return found.least if upwards else found.largest

    def found(ratio: float, own: float) -> Compared:
        best = at_places([partial(place, part, ratio, own) for part in differ], upwards)
        return Compared(best, best, best)

    return _repeatable(found, parts)


def _mean(how: str, parts: Sequence[Compared]) -> Compared:
    """Mean or sum of independent estimates."""

    def found(ratio: float, own: float) -> Compared:
        each = [part.again(ratio, own) if part.again else part for part in parts]
        names = ("shown", "largest", "least")
        shown, largest, least = (_added([getattr(one, name) for one in each], how == SUM) for name in names)
        return Compared(shown, largest, least, tie=parts[0].tie if all(part.tie for part in parts) else "")

    return _repeatable(found, parts)


def _added(parts: Sequence[Estimate], whole: bool) -> Estimate:
    count = 1 if whole else len(parts)
    mean = sum(part.mean for part in parts)
    below, above = (math.hypot(*gaps) for gaps in zip(*((p.mean - p.low, p.high - p.mean) for p in parts), strict=True))
    return Estimate(mean / count, (mean - below) / count, (mean + above) / count)


def _repeatable(found: Callable[[float, float], Compared], parts: Sequence[Compared]) -> Compared:
    return replace(found(1.0, 1), again=found if any(part.again for part in parts) else None)
