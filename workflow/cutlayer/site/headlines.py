"""Headline numbers of a paper: utility and leak under its own defense."""

from __future__ import annotations

from collections.abc import Iterator

from cutlayer.ledger import cells, names, scales
from cutlayer.ledger.evidence import Found
from cutlayer.ledger.readable import decimals, interval, number
from cutlayer.reference import published

from .inputs import Inputs

TITLES = {"utility": "What is left of utility", "leak": "What leaks"}


def numbers(given: Inputs, paper: str) -> Iterator[dict[str, str]]:
    """Headline numbers of a paper in each setup: text, number with interval, exhibit and provenance."""
    for part, entry in given.papers[paper].get("headline", {}).items():
        exhibit = entry["check"]["exhibit"]
        table = cells.load(published.cells(given.results, paper, exhibit))
        for found in scales.largest_of(entry["check"], {exhibit: table}, given.scales):
            common = {"title": TITLES[part], "text": entry["text"], "exhibit": exhibit}
            yield common | {"data": names.of_setup(found.facts["setup"], found.facts["dataset"])} | _number(found)


def _number(found: Found) -> dict[str, str]:
    shown = found.compared.shown
    return {
        "number": "" if found.lacks else number(shown.mean, decimals(shown.low, shown.high)),
        "interval": "" if found.lacks else interval(shown.low, shown.high),
        "from": f"{found.facts['provenance']}, {found.seeds} seeds",
        "why": found.why,
    }
