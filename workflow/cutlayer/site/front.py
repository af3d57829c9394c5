"""Content of the first page: scoreboard and cards by the best evidence, and how your run agrees with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from cutlayer.ledger import names, overview
from cutlayer.ledger.readable import OURS, readable
from cutlayer.reference import compare, found

from . import headlines, papers
from .inputs import Inputs, claims

PICTURE = "arena", "bounds"  # paper and exhibit of the finding


def page(given: Inputs, table: pd.DataFrame, seen: Sequence[overview.Paper]) -> dict[str, Any]:
    """All of the page; `table` is claims.csv of the site's own run, `seen` its papers."""
    cards, evidence, yours = dict(_cards(given, seen, "")), given.evidence, None
    if evidence and given.other:
        theirs = claims(evidence)
        cards |= _cards(evidence, [*overview.papers(theirs, evidence.papers, evidence.scales)], given.other.place)
        whole = (compare.read(one.results / "claims.csv") for one in (given, evidence))  # as `make results` counts
        yours = _panel(found.agreement(*whole))
    board = [{"card": card, "counts": overview.grouped(card["verdicts"])} for card in cards.values()]
    return {"papers": [*cards.values()], "board": board, "yours": yours, "finding": _finding(given)}


def _finding(given: Inputs) -> dict[str, str]:
    """Sentence and picture of the reference run's finding; empty if this site does not have them."""
    paper, name = PICTURE
    shown = (given.evidence or given).papers.get(paper, {"exhibits": {}})["exhibits"].get(name)
    if not given.finding or not shown:
        return {}
    place = given.other.place if given.evidence and given.other else ""
    found = {"page": f"{place}{paper}.html#exhibit-{name}", "picture": f"{place}exhibits/{paper}/{name}.png"}
    return found | {"sentence": given.finding, "title": shown["title"]}


def _cards(given: Inputs, seen: Sequence[overview.Paper], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and card of each paper; `place` is the folder of the site that has its page."""
    for one in seen:
        card = papers.card(one, given.papers[one.name], headlines.numbers(given, one.name))
        yield one.name, card | {"place": place, "verdicts": [word for word, n in one.counts.items() for _ in range(n)]}


def _panel(beside: found.Agreement) -> dict[str, Any]:
    """Sentence on the agreement, and the rows that do not agree."""
    sides = {}
    for side in compare.SIDES:
        columns = {name: beside.differ[name + side] for name in ("ours", "low", "high", "published", "difference")}
        shown = readable(pd.DataFrame(columns))
        words = beside.differ[f"verdict{side}"].map(overview.plain)
        sides[side] = [*zip(shown["ours"], shown["interval"], words, strict=True)]
    rows = beside.differ[["paper", "exhibit", "item", "kind", "statement", "setup", "dataset"]].to_dict("records")
    return {
        "sentence": beside.sentence,
        "rows": [
            {
                "paper": row["paper"], "exhibit": row["exhibit"], "data": names.of_setup(row["setup"], row["dataset"]),
                "what": (f"{row['item']}: " if row["kind"] == "number" else "") + row["statement"].removeprefix(OURS),
                "yours": yours, "reference": reference,
            }
            for row, yours, reference in zip(rows, *sides.values(), strict=True)
        ],
    }  # fmt: skip
