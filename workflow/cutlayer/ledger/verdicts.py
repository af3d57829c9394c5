"""Verdicts, and the rule for each.

A printed number *holds* if our whole interval is within its tolerance, *differs* if none of it is, and else is
*undecided*: more noise never makes a number hold. A claim *holds* if the whole interval satisfies it, *fails* if the
whole interval violates it, and else is undecided. Sides that are exactly equal are a *tie* where one is to be more.

A proven bound can neither hold nor fail by measuring. It is *refuted* if what it limits is beyond it, tested over all
bounds of the ledger at once (Holm), *void* if no defense at all would keep it, too, *attained* if the whole interval is
near it, or near what the defense drew for the labels scored as an attack where that is known, and else *not refuted*.
What a theorem says of exact numbers needs no test: beyond the limit by more than rounding it is refuted.

Of a text that says several things, each reading has its own check: the claim holds where it holds under one, and fails
only where it fails under all.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cutlayer.metrics import declared

from .estimates import NEUTRAL, Compared
from .signal import NO_SIGNAL
from .statistics import LEVEL, ROUNDING, Estimate

HOLDS, DIFFERS, FAILS, UNDECIDED, TIE = "holds", "differs", "fails", "undecided", "tie"
REFUTED, NOT_REFUTED, ATTAINED = "refuted", "not refuted", "attained"
VOID = "void"
BOUNDS = [REFUTED, NOT_REFUTED, ATTAINED, VOID]
NO_COMMON_RANGE, NO_WORTH = "no common range", "no worth to keep"
STAND_IN, NOT_AT_THIS_SCALE, NO_RESULT = "stand-in", "not at this scale", "no result"
NOT_COMPARABLE, DECIDES = "not comparable", "decides a reading"
TOO_SMALL = "too small to judge"
JUDGED = [HOLDS, DIFFERS, FAILS, *BOUNDS, UNDECIDED, TIE, NO_SIGNAL, NO_COMMON_RANGE, NO_WORTH]
WITHHELD = [TOO_SMALL, STAND_IN, DECIDES, NOT_AT_THIS_SCALE, NO_RESULT, NOT_COMPARABLE]
MARK = " (reduced)"
ORDER = [*JUDGED, *(word + MARK for word in JUDGED), *WITHHELD]

POINTS = 0.02  # of accuracies, as shares, and of AUCs
IN_POINTS = {declared.SHARE, declared.AUC, declared.UTILITY, declared.CHANCE}
RELATIVE = 0.1  # of other, small quantities


def tolerance(metrics: set[str], printed: float) -> float:
    """Tolerance of a number that is published without a spread."""
    shares = all(declared.of(metric).kind in IN_POINTS for metric in metrics)
    return POINTS if shares else RELATIVE * abs(printed)


def of_number(printed: float, ours: Estimate, spread: float) -> str:
    """Verdict on a published number: equivalence within +- spread."""
    if math.isnan(ours.low):
        return UNDECIDED
    if ours.low >= printed - spread and ours.high <= printed + spread:
        return HOLDS
    return DIFFERS if ours.high < printed - spread or ours.low > printed + spread else UNDECIDED


def of_claim(check: Mapping[str, Any], ours: Compared) -> str:
    """Verdict on a claim."""
    if ours.tie and _orders(check):
        return TIE
    least, most = check.get("at_least", -math.inf), check.get("at_most", math.inf)
    if ours.least.low >= least and ours.largest.high <= most:
        return HOLDS
    return FAILS if ours.least.high < least or ours.largest.low > most else UNDECIDED


def of_bound(check: Mapping[str, Any], ours: Compared, tested: bool = True, over_draw: Compared | None = None) -> str:
    """The verdict on a proven bound by itself; one that is not `tested` cannot be refuted.

    `over_draw` is by how much the leak is above that of what was drawn, where that was scored. Draws that tell surely
    more than the bound attain nothing, nor does what is exact or between two limits.
    """
    if tested and ours.refutes <= LEVEL:
        return REFUTED
    limits = [check[key] for key in ("at_least", "at_most") if key in check]
    from_it, limit = (over_draw.shown, 0.0) if over_draw else (ours.shown, limits[0])
    near = max(abs(from_it.low - limit), abs(from_it.high - limit)) <= POINTS and ours.shown.low - limits[0] <= POINTS
    exact = from_it.low == from_it.high and not over_draw
    return ATTAINED if near and len(limits) == 1 and not exact and (tested or over_draw) else NOT_REFUTED


def _orders(check: Mapping[str, Any]) -> bool:
    """True if a claim says that one side is greater than the other, not only that it is not much less."""
    if check["statistic"] == "share_below":
        return True
    equal = NEUTRAL[check["statistic"]]
    return check.get("at_least", -math.inf) >= equal - ROUNDING or check.get("at_most", math.inf) <= equal + ROUNDING
