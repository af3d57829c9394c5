"""Verdicts on proven bounds in a setup, with p-value and reason.

It is held against an AUC across rows only if it is about a class or any two rows, or if the rows' labels are coins, of
which features say nothing. Where the defense draws something once for each label, its draw is scored beside the attacks
(`as_drawn`), and an attack that reads all of it attains the bound. One that no defense at all would keep as well is
void.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from cutlayer.metrics import declared
from cutlayer.plan.sweeps import AS_DRAWN, UNDEFENDED

from . import verdicts
from .chance import two_sided
from .check_cells import where
from .estimates import PROVEN, Compared, compared
from .evidence import Found, per_setup

ACROSS_ROWS = ("class", "row", "coin")  # what a bound on an AUC of different rows has to be about
NOT_ACROSS_ROWS = (
    "the bound is about the label of one row, whose features are given; an AUC of different rows may be above it by "
    "what their features say, which would not refute it"
)
READS_THE_DRAW = "the worst attack reads what was drawn for the labels: its AUC is that of as_drawn"
UNREFUTED = (verdicts.NOT_REFUTED, verdicts.ATTAINED)
Judge = Callable[[Compared], str]
Entry = Mapping[str, Any]
Cells = Mapping[str, pd.DataFrame]


def rule(ours: Compared, claim: Entry, check: Entry, over_draw: Compared | None = None) -> Judge:
    """Verdict rule of a claim; a bound is tested unless it is about something that an AUC across rows cannot refute."""
    if math.isnan(ours.refutes):
        return partial(verdicts.of_claim, check)
    return partial(verdicts.of_bound, check, tested=_tested(claim, check), over_draw=over_draw)


def judged(found: Found, claim: Entry, check: Entry, cells: Cells) -> tuple[Judge, dict[str, Any]]:
    """Verdict of a bound by itself, with its p-value if it is tested, and why it is not refuted."""
    ours, tested = found.compared, _tested(claim, check)
    judge = rule(ours, claim, check, _over_draw(found, check, cells))
    row = {"p": ours.refutes} if tested else {}
    word = judge(ours)
    void = _void(found, check, cells) if word in UNREFUTED else ""
    if void:
        return (lambda ours: verdicts.VOID), row | {"why": void}
    if tested:
        exact = ours.shown.low == ours.shown.high
        return judge, {"why": ""} if exact and ours.refutes == 1 else row
    if word == verdicts.ATTAINED:
        return judge, {"why": READS_THE_DRAW}
    return judge, {"why": NOT_ACROSS_ROWS}


def _tested(claim: Entry, check: Entry) -> bool:
    return claim["about"] in ACROSS_ROWS if "about" in claim else PROVEN in check


def _over_draw(found: Found, check: Entry, cells: Cells) -> Compared | None:
    """Leak minus the leak of the defense's own draw for the labels; None if the draw was not scored."""
    draw = {**check["left"], "attack": AS_DRAWN}
    if where(cells[check["exhibit"]], draw | {"setup": found.facts["setup"]}).empty:
        return None
    alone = {key: check[key] for key in ("statistic", "left", "exhibit")}
    (over,) = per_setup({**alone, "right": draw, "setups": [found.facts["setup"]]}, cells)
    return over.compared


def _void(found: Found, check: Entry, cells: Cells) -> str:
    """Reason why the bound is void (the undefended leak is not surely above it); empty if it is not void."""
    right, left = check.get("right"), check["left"]
    if not isinstance(right, Mapping) or declared.of(str(right.get("metric"))).kind != declared.BOUND:
        return ""
    table = cells[check["exhibit"]]
    own = table[(table["setup"] == found.facts["setup"]) & (table["skipped"] == "")]
    plain = {"defense": UNDEFENDED, "attack": left.get("attack", ""), "metric": left["metric"]}
    leaks, bounds = where(own, plain), where(own, right)
    if bounds.empty or not set(bounds["seed"]) <= set(leaks["seed"]):
        return ""
    both = pd.concat([two_sided(leaks[leaks["seed"].isin(bounds["seed"])]), bounds])
    if compared({"statistic": "gap", "left": plain, "right": right}, both).shown.low > 0:
        return ""
    leak, bound = leaks["value"].mean(), bounds["value"].mean()
    which = f"worst attack of {plain['attack']}" if "by" in own else "same attack"  # of a set each side has its own
    return f"the {which} reaches {leak:.3f} without a defense, not surely above the bound, {bound:.3f}"
