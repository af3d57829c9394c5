"""Verdicts on a paper's printed numbers and sentences, by the rule that was fixed before any run.

A number holds if it lies within our 95% interval over seeds, widened by what the paper prints as spread
or else by the tolerance. A claim holds if the whole interval satisfies it, fails if the whole interval
violates it, and is undecided between, or where there is nothing to compare. Where a method failed, or none
applies, there is no result. A statement about every case (`largest`, `largest_gap`) is held against
the worst seed, which is a point and not a sample. Stand-in data and the wrong scale get no verdict, and what
nothing here corresponds to is not comparable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from . import printed
from .cells import bounds, seeds
from .evidence import FAILED, UNCOMPARED, Found, per_setup

TOLERANCE = 0.02  # MSE, AUC and, as a share, accuracy, where the paper prints no spread
FULL_SCALE = "paper"
NO_RESULT = "no result"
NOT_COMPARABLE = "not comparable"
COLUMNS = [
    "paper", "kind", "item", "place", "statement", "setup", "dataset", "provenance", "scale", "seeds",
    "published", "ours", "low", "high", "difference", "rule", "verdict", "why",
]  # fmt: skip


def judge(
    name: str,
    paper: Mapping[str, Any],
    published: pd.DataFrame,
    cells: Mapping[str, pd.DataFrame],
    scale: str,
) -> pd.DataFrame:
    """One row per printed number and setup, and per claim and setup, with its verdict.

    `published` has the printed numbers (item, dataset, method, metric, value, ...), `cells` what
    `cells.gather` returns for each exhibit.
    """
    rows = [*_numbers(paper, published, cells, scale), *_claims(paper, cells, scale)]
    return pd.DataFrame(rows, columns=COLUMNS).assign(paper=name)


def _claims(paper: Mapping[str, Any], cells: Mapping[str, pd.DataFrame], scale: str) -> Iterator[dict[str, Any]]:
    for identifier, claim in paper["claims"].items():
        check = claim["check"]
        for found in per_setup(check, cells):
            mean, low, high = _spread(check, found.values)
            row = {**found.facts, "kind": "claim", "item": identifier}
            row |= {"place": claim["place"], "statement": claim["text"], "scale": scale}
            row |= {"seeds": seeds(found.values), "ours": mean, "low": low, "high": high}
            row |= {"rule": "; ".join(filter(None, [claim.get("rule"), _limits(check)]))}
            row |= {"why": found.why or claim.get("why", "")}
            verdict = _withheld(found, scale, claim["depends_on_scale"]) or _satisfies(check, low, high)
            yield row | {"verdict": verdict}


def _spread(check: Mapping[str, Any], found: pd.DataFrame) -> tuple[float, float, float]:
    """Ours and its interval; for a statement about every case the worst of all seeds."""
    if not check["statistic"].startswith("largest"):
        return bounds(found)
    worst = float(found["value"].max())
    return worst, worst, worst


def _numbers(
    paper: Mapping[str, Any], published: pd.DataFrame, cells: Mapping[str, pd.DataFrame], scale: str
) -> Iterator[dict[str, Any]]:
    for number, entry in printed.numbers(paper.get("numbers", []), published):
        yield from _number(number, entry, cells, scale) if "check" in entry else [_alone(number, entry, scale)]


def _number(
    number: Mapping[str, Any], entry: Mapping[str, Any], cells: Mapping[str, pd.DataFrame], scale: str
) -> Iterator[dict[str, Any]]:
    check, tolerance = entry["check"], entry.get("tolerance", TOLERANCE)
    for found in per_setup(check, {check["exhibit"]: printed.on(number["dataset"], check, cells[check["exhibit"]])}):
        mean, low, high = bounds(found.values)
        row = found.facts | _printed(number, entry) | {"scale": scale, "seeds": seeds(found.values)}
        row |= {"ours": mean, "low": low, "high": high, "difference": mean - number["value"]}
        row |= {"rule": entry.get("rule", f"within the interval ± {tolerance:g}")}
        verdict = _withheld(found, scale, entry["depends_on_scale"])
        verdict = verdict or _matches(number["value"], low, high, tolerance)
        yield row | {"verdict": verdict, "why": (found.why or entry["why"]) if verdict != "holds" else ""}


def _alone(number: Mapping[str, Any], entry: Mapping[str, Any], scale: str) -> dict[str, Any]:
    """The row of a printed number that nothing here corresponds to."""
    nowhere = {"setup": "", "dataset": number["dataset"], "provenance": "", "scale": scale, "seeds": 0}
    return nowhere | _printed(number, entry) | {"rule": "", "verdict": NOT_COMPARABLE, "why": entry["without"]}


def _printed(number: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the paper says."""
    row = {"kind": "number", "item": number["item"], "place": number["item"], "statement": entry["statement"]}
    return row | {"published": number["value"]}


def _withheld(found: Found, scale: str, depends_on_scale: bool) -> str:
    """The verdict that is given in place of one on the numbers, if any."""
    if found.lacks == FAILED:
        return NO_RESULT
    if found.facts["provenance"] == "stand-in":
        return "stand-in"
    if depends_on_scale and scale != FULL_SCALE:
        return "not at this scale"
    return {"": "", UNCOMPARED: "undecided"}.get(found.lacks, NO_RESULT)


def _satisfies(check: Mapping[str, Any], low: float, high: float) -> str:
    least, most = check.get("at_least", -math.inf), check.get("at_most", math.inf)
    if low >= least and high <= most:
        return "holds"
    return "fails" if high < least or low > most else "undecided"


def _matches(printed: float, low: float, high: float, tolerance: float) -> str:
    if math.isnan(low):
        return "undecided"
    return "holds" if low - tolerance <= printed <= high + tolerance else "differs"


def _limits(check: Mapping[str, Any]) -> str:
    parts = [
        f"{word} {check[key]:g}" for key, word in (("at_least", "at least"), ("at_most", "at most")) if key in check
    ]
    return f"{check['statistic'].replace('_', ' ')} {' and '.join(parts)}"
