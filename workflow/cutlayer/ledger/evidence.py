"""Evidence: the cells that a claim, a published number or a headline needs, and whether all of them exist.

A check selects cells by their columns. Evidence in part is no evidence: where a method failed, or something that the
check names was left out or is not there, there is nothing to judge. What is not named is what there is: an attack that
does not apply to a setup is no part of "all attacks". With `where: both`, places that one side lacks are left out.

An AUC a leaks max(a, 1 - a). Which way round an attack's score is read is chosen once a training, not batch by batch,
or noise alone would leak. With `sides: one` AUCs are as they are scored, and what they leak stands beside.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from cutlayer.core import failed_cells
from cutlayer.core.errors import InputError
from cutlayer.plan.check_lines import listed
from cutlayer.plan.sweeps import SCORED

from .cells import NO_SEED, axis, num_seeds
from .chance import two_sided, with_columns
from .check_cells import Check, Selection, all_selections, mask, where
from .estimates import APART, NOTHING, Compared, compared
from .worth import WORTHLESS

FAILED, SKIPPED, UNCOMPARED, NO_RANGE, NO_WORTH = "failed", "skipped", "uncompared", "no range", "no worth"
NOT_COMPARED = {APART: NO_RANGE, WORTHLESS: NO_WORTH}
METHODS = ("defense", "attack")
UNSCORED = "what the run itself scores is not there: the defense has none of it, or the run is older than that score"


@dataclass(frozen=True)
class Found:
    """Finding of a check in one setup."""

    facts: dict[str, str]  # setup, dataset, provenance
    compared: Compared = NOTHING  # nan where something is lacking
    used: pd.DataFrame = field(default_factory=pd.DataFrame)  # the cells that it is made of
    seeds: int = 0
    lacks: str = ""  # FAILED: a method did; SKIPPED: not all is there; others: there is nothing to compare
    why: str = ""  # it is lacking
    withheld: tuple[str, str] = ("", "")  # a verdict that one of several parts has in place of one on numbers, and why
    setups: int = 1  # that it is of
    folded: float = math.nan  # the mean of what AUCs leak, where they are taken as they are scored


def per_setup(check: Check, cells: Mapping[str, pd.DataFrame], absent: str = "") -> Iterator[Found]:
    """Findings of a check in its setups, by default in all for which its exhibit has a number.

    Cells that are nowhere are an error, unless `absent` says why there may be none.
    """
    if absent and check["exhibit"] not in cells:
        return
    table = cells[check["exhibit"]]
    for setup in check.get("setups") or _with_results(table):
        own = table[table["setup"] == setup]
        if not own.empty:
            yield _of_setup(check, own, table, absent)
        elif absent:
            yield Found({"setup": setup, "dataset": "", "provenance": ""}, lacks=SKIPPED, why=absent)
        else:
            where = f"claim on {check['exhibit']}"
            raise InputError(where, f"has no cells for setup {setup!r}", "see the exhibit's csv")


def _with_results(table: pd.DataFrame) -> list[str]:
    """Setups that have a number or a failure."""
    return list(dict.fromkeys(table.loc[(table["skipped"] == "") | failed_cells.among(table), "setup"]))


def _of_setup(check: Check, own: pd.DataFrame, table: pd.DataFrame, absent: str) -> Found:
    facts = {key: str(own[key].iloc[0]) for key in ("setup", "dataset", "provenance")}
    parts = all_selections(check)
    own = _where_both(check, own) if check.get("where") == "both" else own
    left_out = own[own["skipped"] != ""]
    there = own if left_out.empty else own[own["skipped"] == ""]
    chosen = [mask(there, part) for part in parts]
    picked = [there[one] for one in chosen]
    reasons = [_lacking(part, left_out, one) for part, one in zip(parts, picked, strict=True)]
    for lacks in (FAILED, SKIPPED):
        for reason in filter(None, reasons):
            if reason[0] == lacks:
                return Found(facts, lacks=lacks, why=reason[1])
    for part, one in zip(parts, picked, strict=True):
        if one.empty and _fewer(part, there, table):
            fewer = f"the run has no setting {part['setting']}"
            return Found(facts, lacks=SKIPPED, why=fewer if _has_others(part, there) else absent or fewer)
        if one.empty and part.get("attack") in SCORED:
            return Found(facts, lacks=SKIPPED, why=UNSCORED)
    if any(one.empty for one in picked):
        if absent:
            return Found(facts, lacks=SKIPPED, why=absent)
        raise InputError(f"claim on {check['exhibit']}", f"selects nothing: {dict(check)}", "see the exhibit's csv")
    scored = there[np.logical_or.reduce(chosen)]
    leaked = two_sided(scored)
    used = with_columns(scored) if check.get("sides") == "one" else leaked
    if not _complete(picked, axis(own)):
        return Found(facts, used=used, lacks=SKIPPED, why="only in part: not all is of the same seeds and places")
    found = compared(check, used)
    lacks = next((lacks for text, lacks in NOT_COMPARED.items() if text in found.why), UNCOMPARED) if found.why else ""
    folded = math.nan if used is leaked else compared(check, leaked).shown.mean
    return Found(facts, found, used, num_seeds(used), lacks, found.why, folded=folded)


def _fewer(part: Selection, there: pd.DataFrame, table: pd.DataFrame) -> bool:
    """True if the scale has fewer settings: others in this setup, or this one in others."""
    return "setting" in part and (_has_others(part, there) or not where(table, part).empty)


def _has_others(part: Selection, there: pd.DataFrame) -> bool:
    """True if a selection that is empty has cells of other settings."""
    return not where(there, {key: value for key, value in part.items() if key != "setting"}).empty


def _complete(parts: list[pd.DataFrame], along: str) -> bool:
    """True if all cells have the same seeds and places, and every seed every place."""
    counts = [Counter(zip(part["seed"].tolist(), part[along].fillna(np.inf).tolist(), strict=True)) for part in parts]
    seeds, places = ({*one} for one in zip(*counts[0], strict=True))
    every = len(counts[0]) == len(seeds) * len(places)
    return every and all(one.keys() == counts[0].keys() and len({*one.values()}) == 1 for one in counts)


def _lacking(part: Selection, left_out: pd.DataFrame, there: pd.DataFrame) -> tuple[str, str] | None:
    """What a selection lacks, and why, given the rows left out and those that exist."""
    hit = left_out if left_out.empty else left_out[_hit(part, left_out)]
    failed = hit if hit.empty else hit[failed_cells.among(hit)]
    if not failed.empty:
        return FAILED, str(failed["skipped"].iloc[0])
    if not hit.empty:
        partly = "" if there.empty else "only in part: "
        return SKIPPED, partly + str(hit["skipped"].iloc[0])
    named = [(key, one) for key, values in part.items() if isinstance(values, list) for one in values]
    missing = [f"{key} {one}" for key, one in named if not (there[key] == one).any()]
    return (SKIPPED, f"only in part: the run has no {', '.join(missing)}") if missing and not there.empty else None


def _hit(part: Selection, own: pd.DataFrame) -> pd.Series:
    """Mask of the rows that explain why a selection is empty; "" stands for all."""
    hit = pd.Series(True, index=own.index)
    for column in set(part) - {"metric"}:
        hit &= own[column].isin([*listed(part[column]), ""])
    for method in set(METHODS) - set(part):  # one that does not apply to the setup, and was not asked for by name
        hit &= ~((own["seed"] == NO_SEED) & (own["metric"] == "") & (own[method] != ""))
    return hit & (own["metric"].isin([*listed(part["metric"]), ""]) if "metric" in part else True)


def _where_both(check: Check, own: pd.DataFrame) -> pd.DataFrame:
    """The cells at the places that all sides have in all seeds."""
    along = axis(own)
    gone = {
        place
        for part in all_selections(check)
        for place in own.loc[(own["skipped"] != "") & ~failed_cells.among(own) & _hit(part, own), along]
    }
    kept = own[~own[along].isin(gone)]
    return own if kept.empty or where(kept, all_selections(check)[0]).empty else kept
