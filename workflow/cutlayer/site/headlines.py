"""headlines: what a paper's own defense leaves of utility, and what still leaks, as numbers."""

from __future__ import annotations

from collections.abc import Iterator

from cutlayer.ledger import cells, names, scales
from cutlayer.ledger.evidence import Found
from cutlayer.ledger.readable import decimals, interval, number
from cutlayer.reference import published

from .sources import Sources

TITLES = {"utility": "What is left of utility", "leak": "What leaks"}


def told(given: Sources, paper: str) -> Iterator[dict[str, str]]:
    """Each part of a paper's headline in each setup: its text, the number with its interval, and where it is from."""
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
