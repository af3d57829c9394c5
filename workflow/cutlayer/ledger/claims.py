"""Rows of the ledger: every published number and every claim, in each setup, with our value and the verdict.

Where a method failed, or evidence is missing in part, there is no result; generated data get no verdict; what nothing
here corresponds to is not comparable; printed numbers that depend on the scale get none at a scale that does not judge
them, and those that decided how the text is read get none anywhere. Where the model, or the attack on the undefended
run, is not better than chance there is no signal, and a model that is far less useful than the paper's is too small to
judge. A verdict on anything smaller than at the paper's scale is marked so.
What a paper does not say of some data is ours there.

Of a row that cells of several scales could be asked for the largest counts at which all of it is there.

A claim or number that is `across` its datasets has one row for all of them. Of one with several readings the row is
that of the reading under which it holds, else of the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd

from . import across, bounds, multiplicity, printed, scales, seeds, too_small, verdicts
from .across import BETWEEN
from .chance import leaks
from .check_cells import acts, selections
from .estimates import Compared, beyond
from .evidence import FAILED, METHODS, NO_RANGE, NO_WORTH, SKIPPED, UNCOMPARED, Found, per_setup
from .readable import OURS
from .readable import number as number_text
from .selection import BESIDE, NONE_NEAR
from .signal import NO_SIGNAL, Signals
from .trivial import CONSTANT, as_near_as_a_constant, as_near_undefended

KINDS = ["number", "claim", "ours"]
FULL, REDUCED = "full", "reduced"
ANY = "all"  # data
LACKING = {  # else there is no result
    UNCOMPARED: verdicts.UNDECIDED,
    NO_RANGE: verdicts.NO_COMMON_RANGE,
    NO_WORTH: verdicts.NO_WORTH,
}
NOTHING_TO_COMPARE = (NO_SIGNAL, verdicts.NO_COMMON_RANGE, verdicts.NO_WORTH)  # of a reading: it was not judged
COMPARABLE = {"", NO_RANGE}  # of cells that are all there, so that it can be asked whether they have a signal
COLUMNS = [
    "paper", "kind", "item", "place", "exhibit", "statement", "setup", "dataset", "provenance", "scale", "size",
    "seeds", "published", "tolerance", "ours", "low", "high", "difference", "threshold", "rule", "verdict", "why",
    "defense", "attack", "defended", "p", "alone", "reading", "folded",
]  # fmt: skip
Row = dict[str, Any]
Cells = Mapping[str, pd.DataFrame]


@dataclass(frozen=True)
class Scale:
    """A scale: its name, what is smaller than at the paper's, and whether printed numbers are judged at all."""

    name: str
    reduced: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # setup, defense, attack -> name -> what is
    numbers: bool = True
    absent: str = ""  # why cells that a check asks for may not be there; empty: they have to be

    def lacks(self, found: Found) -> str:
        """The reasons why a finding is reduced; empty when it is full. A sample has fewer rows than the original."""
        sample = "the data are a sample" if found.facts["provenance"] == "sample" else ""
        smaller = self._smaller(found) if found.seeds else ""  # a fact of the data has no size
        return "; ".join(filter(None, [sample, smaller]))

    def _smaller(self, found: Found) -> str:
        for column in ("setup", "defense", "attack"):
            known = self.reduced.get(column, {})
            for name in dict.fromkeys(found.used[column]):
                if name in known:
                    return f"{column} {name} differs in {known[name]}"
        return ""


def judge(name: str, paper: Mapping[str, Any], published: pd.DataFrame, cells: Cells, *sizes: Scale) -> pd.DataFrame:
    """One row per printed number and setup, and per claim and setup, with its verdict.

    `published` has the printed numbers (item, dataset, method, metric, value, ...), `cells` what `cells.gather` returns
    for each exhibit, of one of the `sizes` or, with a column `scale`, of several, the largest last.
    """
    apart = [scales.of(cells, scale.name) if len(sizes) > 1 else cells for scale in sizes]
    judged = [_Judged(paper, published, apart[at:], scale).rows() for at, scale in enumerate(sizes)]
    rows_of_entries = (scales.largest(entry) for entry in zip(*judged, strict=True))
    found = [{"paper": name, "reading": ""} | row for rows in rows_of_entries for row in rows]
    rows = pd.DataFrame(found, columns=COLUMNS)
    rows = rows.astype({"p": float, "verdict": object})
    return rows.assign(alone=multiplicity.by_itself(rows).map({True: "yes", False: ""}))


class _Judged:
    """The rows of the first of several `sizes` of cells, of which the others are larger."""

    def __init__(self, paper: Mapping[str, Any], published: pd.DataFrame, sizes: Sequence[Cells], scale: Scale) -> None:
        cells, *larger = sizes
        self._paper, self._cells, self._larger, self._scale = paper, cells, larger, scale
        self._signals = Signals(cells)
        self._published = published
        self._too_small = too_small.reasons(paper, published, cells, larger)

    def rows(self) -> Iterator[dict[str, Row]]:
        """The verdicts by setup of each published number, and then of each claim."""
        for number, entry in printed.numbers(self._paper.get("numbers", []), self._published):
            checked = "check" in entry
            yield _read(entry, partial(self._number, number, entry)) if checked else {"": self._alone(number, entry)}
        for identifier, claim in self._paper["claims"].items():
            yield _read(claim, partial(self._claim, identifier, claim))

    def _claim(self, identifier: str, claim: Mapping[str, Any], check: Mapping[str, Any]) -> dict[str, Row]:
        """The row of a check of a claim in each setup, or one for all of them."""
        rows = {}
        for found in self._across(claim, check, [*per_setup(check, self._cells, self._scale.absent)]):
            found = self._given(claim["given"], found) if "given" in claim else found
            row = {"item": identifier, "place": claim["place"], "statement": claim["text"]}
            row |= {"threshold": limits(check), "rule": claim.get("rule", ""), "why": claim.get("why", "")}
            row |= self._whose(found, row["statement"], "claim", claim.get("datasets"))
            judge = bounds.rule(found.compared, claim, check)
            if not math.isnan(found.compared.refutes):
                judge, more = bounds.judged(found, claim, check, self._cells)
                row |= more
            rows[found.facts["setup"]] = self._row(found, row, check, judge)
        return rows

    def _given(self, premise: Mapping[str, Any], found: Found) -> Found:
        """The finding, without a verdict where what the sentence presupposes is not so, by its mean over seeds.

        Of a setup that the premise's exhibit does not have it is not asked.
        """
        setup, table = found.facts["setup"], self._cells.get(premise["exhibit"])
        asked = table is not None and bool((table["setup"] == setup).any())
        if not asked or found.lacks in (FAILED, SKIPPED) or found.facts["provenance"] == verdicts.STAND_IN:
            return found
        for there in per_setup({**premise, "setups": [setup]}, self._cells, self._scale.absent):
            mean = there.compared.shown.mean
            if there.lacks:
                return replace(found, lacks=there.lacks, why=there.why)
            if beyond(premise, mean):
                what = (
                    f"what the sentence presupposes ({_sides(premise)}: {limits(premise)}) is not so here: {mean:.3g}"
                )
                return replace(found, withheld=(NO_SIGNAL, what))
        return found

    def _across(self, entry: Mapping[str, Any], check: Mapping[str, Any], parts: list[Found]) -> Iterator[Found]:
        """What was found in each setup; of what is across datasets, in those that the paper speaks of as one.

        "In one of them" needs those with evidence; a mean or a sum needs all of them.
        """
        if "across" not in entry or not parts:
            yield from parts
            return
        parts = [one for one in parts if self._speaks_of(one, entry.get("datasets"))] or parts
        withheld = [self._instead(one, check, "") for one in parts]
        if entry["across"] == across.ANY:
            kept = [one for one, (word, _) in zip(parts, withheld, strict=True) if not word]
            withheld, parts = ([], kept) if kept else (withheld, parts)
        without = next((reason for reason in withheld if reason[0]), None)
        yield across.withheld(parts, without) if without else across.together(entry["across"], check, parts)

    def _number(self, number: Mapping[str, Any], entry: Mapping[str, Any], check: Mapping[str, Any]) -> dict[str, Row]:
        """The row of a check of a printed number in each setup, or one for all of them."""
        rows, name = {}, check["exhibit"]
        cells = {key: printed.on(number["dataset"], check, own) for key, own in self._cells.items() if key == name}
        for found in self._across(entry, check, [*per_setup(check, cells, self._scale.absent)]):
            if not found.facts["dataset"]:  # a setup without cells
                found = replace(found, facts={**found.facts, "dataset": number["dataset"]})
            leak = read_two_sided(number["value"], check, found)
            spread = entry.get("tolerance", verdicts.tolerance(set(found.used.get("metric", ())), leak))
            row = _printed(number, entry) | {"difference": found.compared.shown.mean - leak, "tolerance": spread}
            row |= _methods(found) | {"threshold": f"{number_text(leak)} ± {spread:.3g}", "rule": entry.get("rule", "")}
            row |= self._whose(found, row["statement"], "number", None)
            coarse = "tolerance" in entry and as_near_as_a_constant(check, found.used, leak, spread)
            judge = partial(self._of_number, entry, leak, spread, coarse)
            near = coarse and abs(row["difference"]) <= spread
            why = CONSTANT if near and judge(found.compared) == verdicts.UNDECIDED else entry["why"]
            read = f"it decided how the text is read: {', '.join(entry['decides'])}" if "decides" in entry else ""
            rows[found.facts["setup"]] = self._row(found, row | {"why": read or why}, check, judge)
        return rows

    def _of_number(self, entry: Mapping[str, Any], printed: float, spread: float, coarse: bool, ours: Compared) -> str:
        """The verdict on a printed number that has ours beside it, or why it is not judged."""
        if "decides" in entry:
            return verdicts.DECIDES
        if entry["depends_on_scale"] and not self._scale.numbers:
            return verdicts.NOT_AT_THIS_SCALE
        verdict = verdicts.of_number(printed, ours.shown, spread)
        return verdicts.UNDECIDED if coarse and verdict == verdicts.HOLDS else verdict

    def _alone(self, number: Mapping[str, Any], entry: Mapping[str, Any]) -> Row:
        """The row of a printed number that nothing here corresponds to."""
        row = {"setup": "", "dataset": number["dataset"], "provenance": "", "scale": self._scale.name, "seeds": 0}
        row |= {
            "kind": "number",
            "exhibit": "",
            "size": "",
            "threshold": "",
            "rule": "",
            "verdict": verdicts.NOT_COMPARABLE,
            scales.PRESENT: 0,
        }
        return row | _printed(number, entry) | {"why": entry["without"]}

    def _whose(self, found: Found, statement: str, kind: str, datasets: str | list[str] | None) -> Row:
        """Whether the paper speaks of these data, or the statement is ours there."""
        if self._speaks_of(found, datasets):
            return {"kind": kind}
        return {"kind": "ours", "statement": f"{OURS}{statement}"}

    def _speaks_of(self, found: Found, datasets: str | list[str] | None) -> bool:
        """Whether the paper, or what it says here, is about these data."""
        spoken_of = self._paper.get("datasets", ANY) if datasets is None else datasets
        return spoken_of == ANY or {*found.facts["dataset"].split(BETWEEN)} <= {*spoken_of}

    def _row(self, found: Found, row: Row, check: Mapping[str, Any], judge: Callable[[Compared], str]) -> Row:
        verdict = judge(found.compared)
        ours, lacks = found.compared.shown, self._scale.lacks(found)
        row |= found.facts | {"exhibit": check["exhibit"], "scale": self._scale.name, "seeds": found.seeds}
        row |= {"ours": ours.mean, "low": ours.low, "high": ours.high, "folded": found.folded}
        row |= {"size": f"{REDUCED}: {lacks}" if lacks else FULL, scales.PRESENT: _present(found)}
        instead, reason = self._instead(found, check, verdict)
        if not instead and verdict in multiplicity.BY_INTERVAL:
            row["p"] = multiplicity.p_value(found.compared, judge, verdict)
        verdict = instead or verdict
        if verdict == verdicts.TIE:
            reason = found.compared.tie
        if verdict == verdicts.UNDECIDED and not reason:
            more = seeds.enough(found.compared, found.seeds, lambda ours: judge(ours) != verdicts.UNDECIDED)
            more = "" if row["why"] == CONSTANT and more == seeds.NEVER else more
            reason = "; ".join(filter(None, [row["why"], more]))
        marked = verdict + verdicts.MARK if lacks and verdict in verdicts.JUDGED else verdict
        settled = verdict == verdicts.HOLDS or (verdict in bounds.UNREFUTED and "p" in row)
        return row | {"verdict": marked, "why": "" if settled else reason or row["why"]}

    def _instead(self, found: Found, check: Mapping[str, Any], verdict: str) -> tuple[str, str]:
        """The verdict that is given in place of one on the numbers, if any, and why."""
        if found.withheld[0]:
            return found.withheld
        if found.lacks == FAILED:
            return verdicts.NO_RESULT, found.why
        if found.facts["provenance"] == verdicts.STAND_IN:
            return verdicts.STAND_IN, found.why
        if verdict in (verdicts.DECIDES, verdicts.NOT_AT_THIS_SCALE):
            return verdict, found.why
        without = self._signals.lacking(check, found.used) if found.lacks in COMPARABLE else ""
        small = self._too_small.get(found.facts["setup"], "") if found.lacks in COMPARABLE else ""
        if small and self._of_a_model(found):
            return verdicts.TOO_SMALL, small
        if found.lacks and not without:
            return LACKING.get(found.lacks, verdicts.NO_RESULT), found.why
        if without:
            return NO_SIGNAL, without
        far = found.used[found.used["setting"].str.contains(NONE_NEAR, regex=False)]
        if len(far) and not _of_utility(check, found):
            return verdicts.UNDECIDED, _none_near(far)
        reason = as_near_undefended(check, found, self._cells, self._larger)
        return (NO_SIGNAL, reason) if reason else ("", "")

    def _of_a_model(self, found: Found) -> bool:
        """Whether a row rests on how good a model is that is smaller than the paper's: not its own worth, no bound."""
        proven = not math.isnan(found.compared.refutes)
        smaller = found.seeds > 0 and bool(self._scale.lacks(found))
        return smaller and not proven and not too_small.is_apart(found.used)


def _of_utility(check: Mapping[str, Any], found: Found) -> bool:
    """Whether a claim is on how useful a model is: where no setting is near enough, the most useful one is judged."""
    return not {"at_least", "at_most"}.isdisjoint(check) and bool((found.used["attack"] == "").all())


def _none_near(far: pd.DataFrame) -> str:
    """Of which defenses no setting is as useful as the table's rule asks: in all seeds, or in some."""
    everywhere = far["setting"].map(lambda name: all(NONE_NEAR in one for one in name.split(BESIDE)))
    says = {
        True: "no setting of {} is as useful here as the table's rule asks",
        False: "for some seeds no setting of {} is as useful on the others as the table's rule asks",
    }
    names = far.groupby(everywhere)["defense"].unique()
    return "; ".join(says[bool(every)].format(", ".join(own)) for every, own in names.items())


def _present(found: Found) -> int:
    """In how many setups there are all cells that a check needs; a method that failed was run."""
    return 0 if found.lacks == SKIPPED or found.withheld[0] == verdicts.NO_RESULT else found.setups


def _read(entry: Mapping[str, Any], judged: Callable[[Mapping[str, Any]], dict[str, Row]]) -> dict[str, Row]:
    """The rows of an entry, by what `judged` says of a check: those of its own, or of its readings one a setup."""
    if "readings" not in entry:
        return judged(entry["check"])
    rows = {name: judged(check) for name, check in entry["readings"].items()}
    setups = dict.fromkeys(setup for own in rows.values() for setup in own)
    return {setup: _of_readings({name: own.get(setup) for name, own in rows.items()}) for setup in setups}


def _of_readings(rows: Mapping[str, Row | None]) -> Row:
    """The row of an entry from those of its readings: the one under which it holds, else the first with a result."""
    words = {name: str(row["verdict"]) if row else verdicts.NO_RESULT for name, row in rows.items()}
    plain = {name: word.removesuffix(verdicts.MARK) for name, word in words.items()}
    holding = [name for name, word in plain.items() if word == verdicts.HOLDS]
    there = [name for name, word in plain.items() if word != verdicts.NO_RESULT]
    judged = [word for word in plain.values() if word in verdicts.JUDGED and word not in NOTHING_TO_COMPARE]
    first, row = next((name, row) for name, row in rows.items() if row and name in (holding or there or rows))
    against = [name for name, word in plain.items() if word in multiplicity.AGAINST]
    row |= {scales.PRESENT: _present_of([one[scales.PRESENT] if one else 0 for one in rows.values()], len(against))}
    sides = _side_of_each(rows)
    same = len({*plain.values()}) == 1 and len({*sides.values()}) < 2
    if holding or not judged or same:
        row |= {"why": _seeds_of_readings(rows)} if plain[first] == verdicts.UNDECIDED else {}
        row |= {"why": _of_each(_whys(rows))} if same and plain[first] == verdicts.NO_COMMON_RANGE else {}
        row |= {"why": f"{plain[against[0]]} under {BETWEEN.join(against)}"} if holding and against else {}
        return row | {"reading": BETWEEN.join(rows) if plain[first] in multiplicity.AGAINST else first}
    marked = verdicts.UNDECIDED + (verdicts.MARK if row["size"].startswith(REDUCED) else "")
    verdicts_by_reading = "; ".join(f"{name}: {word}{sides.get(name, '')}" for name, word in words.items())
    return row | {"reading": first, "verdict": marked, "p": math.nan, "why": verdicts_by_reading}


def _side_of_each(rows: Mapping[str, Row | None]) -> dict[str, str]:
    """On which side of a printed number the readings are that differ: if on both, one in between may be it."""
    differing = {name: row for name, row in rows.items() if row and str(row["verdict"]).startswith(verdicts.DIFFERS)}
    return {name: " (above)" if row["difference"] > 0 else " (below)" for name, row in differing.items()}


def _present_of(counts: Sequence[int], against: int) -> int:
    """Of how much there are cells, of all readings; all, where one that was run is not against what is said.

    It is against it only under every reading, so that the others, if they were run at a smaller scale, do not matter.
    """
    return max(counts) * len(counts) if sum(count > 0 for count in counts) > against else sum(counts)


def _seeds_of_readings(rows: Mapping[str, Row | None]) -> str:
    """The first reading's reason; how many seeds would decide, of each reading where they differ."""
    whys = _whys(rows)
    first, more = next(iter(whys.values())), {name: why.rpartition("; ")[2] for name, why in whys.items()}
    if not all(seeds.says(one) for one in more.values()):
        return first
    return "; ".join(filter(None, [first.rpartition("; ")[0], _of_each(more)]))


def _whys(rows: Mapping[str, Row | None]) -> dict[str, str]:
    return {name: str(row["why"]) for name, row in rows.items() if row}


def _of_each(texts: Mapping[str, str]) -> str:
    """What all readings have in common, or the text of each."""
    same = len({*texts.values()}) == 1
    return next(iter(texts.values())) if same else "; ".join(f"{name}: {one}" for name, one in texts.items())


def _methods(found: Found) -> Row:
    """What a printed number is of."""
    if found.used.empty:
        return {}
    named = {kind: ", ".join(name for name in dict.fromkeys(found.used[kind]) if name) for kind in METHODS}
    return named | {"defended": "yes" if acts(found.used) else "no"}


def read_two_sided(value: float, check: Mapping[str, Any], found: Found) -> float:
    """A printed AUC of an attack as what it leaks, as ours is read; as it is printed where ours is read as scored."""
    used = found.used
    folded = check["statistic"] == "value" and "sides" not in check
    if not folded or used.empty or not (used["attack"] != "").all():
        return value
    auc = leaks(used)
    return max(value, 1 - value) if auc.all() else value


def limits(check: Mapping[str, Any]) -> str:
    """The bounds of a check in words."""
    words = {"at_least": "at least", "at_most": "at most"}
    parts = [f"{word} {check[key]:g}" for key, word in words.items() if key in check]
    return f"{check['statistic'].replace('_', ' ')} {' and '.join(parts)}"


def _sides(check: Mapping[str, Any]) -> str:
    """What a check compares, in words: a metric, and under which defenses."""
    sides = [side for key in ("left", "right") for side in selections(check.get(key, []))]
    names = [f"{side.get('defense', '')}[{side.get('setting', '')}]".removesuffix("[]") for side in sides]
    metrics = [str(side.get("metric", "")) for side in sides]
    return f"{' and '.join(dict.fromkeys(metrics))} under {' and '.join(names)}"


def _printed(number: Mapping[str, Any], entry: Mapping[str, Any]) -> Row:
    """What the paper says."""
    row = {"item": number["item"], "place": number["item"], "statement": entry["statement"]}
    return row | {"published": number["value"]}
