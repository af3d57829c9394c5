"""Overview of each paper: verdicts on its main claims by dataset, and what would decide the undecided rows.

It is the ledger in words and the site's first page. The main claims are those under `main` in paper.yaml.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from cutlayer.plan.sizes import FULL_SCALE

from . import names
from .claims import FULL
from .verdicts import (
    ATTAINED,
    DECIDES,
    DIFFERS,
    FAILS,
    HOLDS,
    MARK,
    NO_COMMON_RANGE,
    NO_RESULT,
    NO_SIGNAL,
    NO_WORTH,
    NOT_AT_THIS_SCALE,
    NOT_COMPARABLE,
    NOT_REFUTED,
    ORDER,
    REFUTED,
    STAND_IN,
    TIE,
    TOO_SMALL,
    UNDECIDED,
    VOID,
)

ABOUT = (
    "Papers on privacy in split and vertical federated learning, run again from one DAG: what each of them claims, "
    "next to what we measured. A verdict is given by a rule, and only where the whole 95% interval is on one side."
)
RULE = (
    "A printed number holds if our whole 95% interval (seeds, and the number of tested rows) is within the spread "
    "that the paper prints or, where it prints none, 2 points of an accuracy or AUC, or 10% of another number; it "
    "differs if none of it is. A claim holds if the whole interval satisfies it and fails if the whole interval "
    "violates it; one about every case is held against the worst case. Else they are undecided. A proven bound is "
    "refuted if what it limits is beyond it, tested with all bounds at once, void if it is not surely so without any "
    "defense either, attained if that is within 2 points of it, and else not refuted. A tie is an exact one; there is "
    "no signal where the model, or the attack without a defense, is no better than chance, no common range where two "
    "sweeps nowhere leak alike, and no worth to keep where the passive party adds too little utility for a share of "
    "it to be known. Reduced means smaller than the paper's sizes; a reduced model whose utility without a defense is "
    "more than 5 points below the paper's is too small to judge. Generated data get no verdict, nor does a number "
    "that decided how the text is read; what failed, does not apply or is there in part has no result; what needs "
    "data that are not public is not comparable."
)
FAILED = "These have no result, and no number here depends on them:"
MIXED, PARTLY, PARTLY_NOT, OPEN_STILL = "mixed", "holds in part", "fails in part", "open"
LARGER = {
    "reference": "paper",
    "printed": "paper",
    "paper": "",
}  # scale -> the one that decides more; of any other it is reference
DECIDED = (HOLDS, DIFFERS, FAILS, REFUTED, ATTAINED, TIE)
GROUPS = {  # what verdicts come to, in the order of a bar; all others cannot be judged
    "hold": (HOLDS,),
    "bounds not refuted": (ATTAINED, NOT_REFUTED),
    "fail or differ": (FAILS, DIFFERS, REFUTED),
    "undecided": (UNDECIDED, TIE),
}
NOT_JUDGED = "cannot be judged"
OPEN = {
    UNDECIDED: "undecided",
    NO_SIGNAL: "without signal",
    NO_COMMON_RANGE: "without a common range",
    NO_WORTH: "where there is no worth to keep",
    NOT_AT_THIS_SCALE: "not judged at this scale",
}
ELSEWHERE = {
    NOT_REFUTED: "bounds not refuted: measuring can say no more of what is proven",
    VOID: "bounds void: without a defense the leak is not surely above them either",
    TOO_SMALL: "too small to judge: without a defense the model is worth far less than the paper's",
    STAND_IN: "on generated data: they need the original files, see the page of data",
    NO_RESULT: "without result: the reason is in each row",
    NOT_COMPARABLE: "not comparable: the paper's data are private, or a setting is not given",
    DECIDES: "decided how the text is read, and are not judged",
}


@dataclass(frozen=True)
class Chip:
    """Verdicts on a main claim for one dataset."""

    dataset: str
    verdicts: Mapping[str, int]  # without the mark, in their order -> in how many rows
    reduced: bool  # whether any is smaller than in the paper
    alone: bool  # whether any does not stay when all setups of its claim are judged at once
    ours: bool  # whether the paper says nothing of these data
    provenance: str
    readings: tuple[str, ...] = ()  # of the text under which it holds

    @property
    def title(self) -> str:
        """The dataset in words."""
        return names.of_dataset(self.dataset)

    @property
    def word(self) -> str:
        """The verdict; of several what they come to."""
        if len(self.verdicts) == 1:
            return next(iter(self.verdicts))
        good, bad = bool({HOLDS, ATTAINED} & set(self.verdicts)), bool({FAILS, DIFFERS, REFUTED} & set(self.verdicts))
        return {(True, True): MIXED, (True, False): PARTLY, (False, True): PARTLY_NOT}.get((good, bad), OPEN_STILL)

    @property
    def text(self) -> str:
        """The verdict in words; of several, how often each."""
        if len(self.verdicts) == 1:
            read = " and ".join(self.readings).replace("_", " ").removeprefix("as ")
            return f"{self.word}, read as {read}" if read else self.word
        return ", ".join(f"{count} {word}" for word, count in self.verdicts.items())


@dataclass(frozen=True)
class Point:
    """A main claim of a paper, with its verdicts."""

    text: str
    claims: list[str]
    chips: list[Chip]


@dataclass(frozen=True)
class Paper:
    """Overview of a paper."""

    name: str
    title: str
    authors: str
    points: list[Point]
    counts: Mapping[str, int]  # verdict without the mark -> rows
    decided: str  # how much, in a sentence
    rest: list[str]  # what would decide the rest, a sentence each


def papers(verdicts: pd.DataFrame, content: Mapping[str, Any], scales: Sequence[str]) -> Iterator[Paper]:
    """Each paper at a glance; `verdicts` is claims.csv, `content` the papers as the plan has them.

    `scales` are those of the run, the largest last.
    """
    for name, paper in content.items():
        own = verdicts[verdicts["paper"] == name]
        points = [_point(own, entry, paper["datasets"]) for entry in paper.get("main", [])]
        counts = tally(own["verdict"])
        larger = [*rest(counts, scales[0] if _smaller(own) else FULL_SCALE)]
        yield Paper(name, paper["title"], paper["authors"], points, counts, decided(own), larger)


def _smaller(own: pd.DataFrame) -> bool:
    """Whether a larger scale would tell more of what is open."""
    among = own[own["verdict"].map(plain).isin(OPEN)]
    return bool((among["size"] != FULL).any())


def of_scale(scales: Sequence[str]) -> str:
    """A sentence on the scales of a run, the largest last, and the command for the next larger one."""
    if len(scales) > 1:
        return (
            f"These are runs at the scales {' and '.join(scales)}: of each row the largest at which all of it was run."
        )
    (scale,) = scales
    larger = LARGER.get(scale, "reference")
    sentence = f"This is a run at scale **{scale}**."
    if not larger:
        return sentence
    return f"{sentence} A larger one is run with `--config scale={larger}`; `make plan SCALE={larger}` tells its hours."


def plain(verdict: str) -> str:
    """A verdict without its mark."""
    return verdict.removesuffix(MARK)


def tally(verdicts: Iterable[str]) -> dict[str, int]:
    """How often each verdict is given, marked or not, in their order."""
    found = Counter(map(plain, verdicts))
    return {word: found[word] for word in dict.fromkeys(map(plain, ORDER)) if word in found}


def grouped(verdicts: Iterable[str]) -> dict[str, int]:
    """How many verdicts are of each of GROUPS, and how many are of none."""
    counts = tally(verdicts)
    found = {group: sum(counts.get(word, 0) for word in words) for group, words in GROUPS.items()}
    return found | {NOT_JUDGED: sum(counts.values()) - sum(found.values())}


def chips(rows: pd.DataFrame, spoken_of: Iterable[str]) -> list[Chip]:
    """A paper's verdicts by dataset: first the datasets that the paper uses, in its order."""
    order = dict.fromkeys([*spoken_of, *rows["dataset"]])
    return [_chip(name, own) for name in order if not (own := rows[rows["dataset"] == name]).empty]


def decided(own: pd.DataFrame) -> str:
    """A sentence on the number of a paper's rows that are decided."""
    counts = {word: count for word, count in tally(own["verdict"]).items() if word in DECIDED}
    reduced = int((own["verdict"].str.endswith(MARK) & own["verdict"].map(plain).isin(counts)).sum())
    counted = f" ({', '.join(f'{count} {word}' for word, count in counts.items())})" if counts else ""
    scales = " and ".join(dict.fromkeys(own["scale"]))
    sizes = f", {reduced} of them on less than the paper's sizes" if reduced else ""
    return f"Of {len(own)} statements and numbers {sum(counts.values())} are decided at scale {scales}{counted}{sizes}."


def rest(counts: Mapping[str, int], scale: str) -> Iterator[str]:
    """Sentences on what would decide a paper's undecided rows."""
    larger = LARGER.get(scale, "reference")
    left = ", ".join(f"{counts[word]} {said}" for word, said in OPEN.items() if word in counts)
    if left:
        yield f"{left}: `--config scale={larger}` tells more." if larger else f"{left}: more seeds tell."
    for word, said in ELSEWHERE.items():
        if word in counts:
            yield f"{counts[word]} {said}."


def _point(own: pd.DataFrame, entry: Mapping[str, Any], spoken_of: list[str]) -> Point:
    rows = own[(own["kind"] != "number") & own["item"].isin(entry["claims"])]
    return Point(entry["text"], entry["claims"], chips(rows, spoken_of))


def _chip(name: str, own: pd.DataFrame) -> Chip:
    return Chip(
        name,
        tally(own["verdict"]),
        bool(own["verdict"].str.endswith(MARK).any()),
        bool((own["alone"] == "yes").any()),
        bool((own["kind"] == "ours").all()),
        ", ".join(dict.fromkeys(own["provenance"])),
        tuple(filter(None, dict.fromkeys(own.loc[own["verdict"].map(plain) == HOLDS, "reading"].fillna("")))),
    )
