"""Verdicts on a paper's printed numbers and sentences, by the rule that was fixed before any run.

A number holds if it lies within our 95% interval over seeds, widened by what the paper prints as spread
or else by the tolerance. A claim holds if the whole interval satisfies it, fails if the whole interval
violates it, and is undecided between. Where a method failed there is no result.
A statement about every case (`largest`, `largest_gap`) is held against
the worst seed, which is a point and not a sample. Stand-in data and the wrong scale get no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from . import failures
from .cells import axis, bounds, seeds
from .errors import InputError

TOLERANCE = 0.02  # MSE and AUC, where the paper prints no spread
FULL_SCALE = "paper"
NO_RESULT = "no result"
COLUMNS = [
    "paper", "kind", "item", "place", "statement", "setup", "dataset", "provenance", "scale", "seeds",
    "published", "ours", "low", "high", "difference", "rule", "verdict", "why",
]  # fmt: skip
Selection = Mapping[str, Any]


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
        for fact, found in per_setup(check, cells):
            mean, low, high = _spread(check, found)
            failed = fact.pop("failed")
            row = fact | {
                "kind": "claim",
                "item": identifier,
                "place": claim["place"],
                "statement": claim["text"],
            }
            row |= {"scale": scale, "seeds": seeds(found), "ours": mean, "low": low, "high": high}
            row |= {
                "rule": "; ".join(filter(None, [claim.get("rule"), _limits(check)])),
                "why": failed or claim.get("why", ""),
            }
            verdict = NO_RESULT if failed else _withheld(row, claim["depends_on_scale"])
            yield row | {"verdict": verdict or _satisfies(check, low, high)}


def _spread(check: Mapping[str, Any], found: pd.DataFrame) -> tuple[float, float, float]:
    """Ours and its interval; for a statement about every case the worst of all seeds."""
    if not check["statistic"].startswith("largest"):
        return bounds(found)
    worst = float(found["value"].max())
    return worst, worst, worst


def _numbers(
    paper: Mapping[str, Any], published: pd.DataFrame, cells: Mapping[str, pd.DataFrame], scale: str
) -> Iterator[dict[str, Any]]:
    for entry in paper.get("numbers", []):
        printed = published
        for column, value in entry["published"].items():
            printed = printed[printed[column] == value]
        if printed.empty:
            raise InputError("published.csv", f"has no row with {dict(entry['published'])}", "see its columns")
        for number in printed.astype(object).to_dict("records"):
            yield from _number({str(key): value for key, value in number.items()}, entry, cells, scale)


def _number(
    number: Mapping[str, Any], entry: Mapping[str, Any], cells: Mapping[str, pd.DataFrame], scale: str
) -> Iterator[dict[str, Any]]:
    check, tolerance = entry["check"], entry.get("tolerance", TOLERANCE)
    for fact, found in per_setup(_narrowed(check, number["metric"], cells), cells):
        if number["dataset"] not in ("all", fact["dataset"]):
            continue
        mean, low, high = bounds(found)
        failed = fact.pop("failed")
        row = fact | {"kind": "number", "item": number["item"], "place": number["item"]}
        row |= {"statement": f"{number['method']} {number['metric']}".removeprefix("- "), "scale": scale}
        row |= {"seeds": seeds(found), "published": number["value"], "ours": mean, "low": low, "high": high}
        row |= {
            "difference": mean - number["value"],
            "rule": entry.get("rule", f"within the interval ± {tolerance:g}"),
        }
        verdict = NO_RESULT if failed else _withheld(row, entry["depends_on_scale"])
        verdict = verdict or _matches(number["value"], low, high, tolerance)
        why = failed or entry.get("why", {}).get(f"{number['dataset']}.{number['metric']}", "")
        yield row | {"verdict": verdict, "why": why if verdict != "holds" else ""}


def _narrowed(check: Mapping[str, Any], metric: str, cells: Mapping[str, pd.DataFrame]) -> Mapping[str, Any]:
    """An empty selection means the metric that the paper prints."""
    return {**check, "left": {"metric": metric}} if check["left"] == {} else check


def per_setup(
    check: Mapping[str, Any], cells: Mapping[str, pd.DataFrame]
) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """For each setup of a check: its facts, and the statistic seed by seed (columns seed, value).

    Among the facts is `failed`: why there is no statistic, because a method failed that it needs.
    """
    table = cells[check["exhibit"]]
    table = table[(table["skipped"] == "") | failures.among(table)]
    for setup in check.get("setups") or dict.fromkeys(table["setup"]):
        own = table[table["setup"] == setup]
        if own.empty:
            raise InputError(
                f"claim on {check['exhibit']}", f"has no cells for setup {setup!r}", "see the exhibit's csv"
            )
        fact = {key: str(own[key].iloc[0]) for key in ("setup", "dataset", "provenance")}
        failed = failures.among(own)
        reason = _failure(check, own[failed])
        found = _statistic(check, own[~failed])
        if found.empty and not reason:
            raise InputError(f"claim on {check['exhibit']}", f"selects nothing: {dict(check)}", "see the exhibit's csv")
        yield fact | {"failed": reason}, found.iloc[:0] if reason else found


def _failure(check: Mapping[str, Any], failed: pd.DataFrame) -> str:
    """Why something failed that the check would select; part of the evidence is no evidence."""
    for selection in [*_selections(check["left"]), *_selections(check.get("right", []))]:
        hit = pd.Series(True, index=failed.index)
        for column in set(selection) - {"metric"}:
            hit &= failed[column].isin([*_listed(selection[column]), ""])
        if hit.any():
            return str(failed["skipped"][hit].iloc[0])
    return ""


def _statistic(check: Mapping[str, Any], own: pd.DataFrame) -> pd.DataFrame:
    """One value per seed; none when nothing is selected."""
    along = axis(own)
    left = _select(own, check["left"], along)
    if check.get("at"):
        ends = left["axis"].min() if check["at"] == "first" else left["axis"].max()
        left = left[left["axis"] == ends]
    if "right" in check:
        left = left.merge(_select(own, check["right"], along), on=["seed", "axis"], suffixes=("", "_right"))
        left["below"] = left["value"] < left["value_right"]
        left["gap"] = left["value"] - left["value_right"]
    column, how = {
        "value": ("value", "mean"), "largest": ("value", "max"), "gap": ("gap", "mean"), "largest_gap": ("gap", "max"),
        "share_below": ("below", "mean"),
    }[check["statistic"]]  # fmt: skip
    return left.groupby("seed")[column].agg(how).astype(float).rename("value").reset_index()


def _select(own: pd.DataFrame, selection: Selection | Sequence[Selection], along: str) -> pd.DataFrame:
    """Columns seed, axis, value; of several selections the least value counts."""
    parts = []
    for one in _selections(selection):
        rows = own
        for column, value in one.items():
            rows = rows[rows[column].isin(_listed(value))]
        parts.append(rows.groupby(["seed", along], dropna=False)["value"].mean().reset_index())
    together = pd.concat(parts).groupby(["seed", along], dropna=False)["value"].min()
    return together.rename_axis(["seed", "axis"]).reset_index()


def _selections(given: Selection | Sequence[Selection]) -> Sequence[Selection]:
    return [given] if isinstance(given, Mapping) else given


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _withheld(row: Mapping[str, Any], depends_on_scale: bool) -> str:
    if row["provenance"] == "stand-in":
        return "stand-in"
    return "not at this scale" if depends_on_scale and row["scale"] != FULL_SCALE else ""


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
