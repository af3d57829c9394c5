"""Parts: papers with fewer exhibits, setups, defenses and attacks than they have, for those who run a part of them.

Setups of an exhibit are apart from each other. What it compares within one is not: an exhibit that shows the worst of
several attacks, all methods there are, a matched strength or what is kept above a floor is run with all of its methods
or not at all. Where settings are chosen by an attack, that attack is run, and so is the undefended model that all else
is held against.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutlayer.core.errors import InputError

from . import check_lines
from .sweeps import UNDEFENDED

WHOLE = {
    "worst": "the worst of several attacks",
    "of_all": "all methods",
    "match": "a matched strength",
    "kept": "what is kept above a floor",
}
KINDS = ("setup", "defense", "attack")
NOT_RUN = "this run is of a part, which lacks what this needs"  # why a check finds no cells
Part = Mapping[str, list[str]]  # kinds, with s -> names
Papers = dict[str, dict[str, Any]]


def of_numbers(papers: Mapping[str, Any]) -> Papers:
    """The papers with the exhibits that published numbers are compared with; papers that have none are left out."""
    found = {}
    for name, paper in papers.items():
        checks = [check for entry in paper.get("numbers", []) if "check" in entry for check in check_lines.of(entry)]
        numbered = {check["exhibit"] for check in checks}
        found[name] = with_exhibits(paper, {key: own for key, own in paper["exhibits"].items() if key in numbered})
    return {name: paper for name, paper in found.items() if paper["exhibits"]}


def of_names(papers: Mapping[str, Any], only: Part) -> tuple[Papers, list[str]]:
    """The papers with the requested names of each kind, and a line for each exhibit that cannot be cut so.

    Raises:
        InputError: no exhibit has any of them.

    """
    found, lines = {}, []
    for name, paper in papers.items():
        cut = {key: own for key, exhibit in paper["exhibits"].items() if (own := _of_names(exhibit, only))}
        for key, own in list(cut.items()):
            if reason := _whole(paper["exhibits"][key], own):
                del cut[key]
                lines.append(f"{name} {key} is left out: it compares {reason}, of which some are not run")
        reduced = with_exhibits(paper, cut)
        found[name] = {key: part for key, part in reduced.items() if key != "headline"}  # which is of a whole run
    found = {name: paper for name, paper in found.items() if paper["exhibits"]}
    if not found:
        raise InputError("only", "no exhibit can be made of these", "; ".join(lines) or "expected names of one exhibit")
    return found, lines


def _of_names(exhibit: Mapping[str, Any], only: Part) -> dict[str, Any]:
    """An exhibit with the requested names; empty where it has none of some kind."""
    always = {"defense": [UNDEFENDED], "attack": [exhibit.get("choose", {}).get("attack")], "setup": []}
    cut = dict(exhibit)
    for kind in KINDS:
        key = f"{kind}s"
        if key in only:
            if not set(only[key]) & set(exhibit[key]):
                return {}
            cut[key] = [name for name in exhibit[key] if name in {*only[key], *always[kind]}]
    cut["inapplicable"] = [
        row for row in exhibit["inapplicable"] if row["setup"] in cut["setups"] and not _gone(row, exhibit, cut)
    ]
    if "sensitive" in exhibit:
        cut["sensitive"] = {name: own for name, own in exhibit["sensitive"].items() if name in cut["setups"]}
    if "grids" in exhibit:
        rows = exhibit["grids"]
        cut["grids"] = [row for row in rows if row["setup"] in cut["setups"] and row["defense"] in cut["defenses"]]
    return cut


def _gone(row: Mapping[str, str], exhibit: Mapping[str, Any], cut: Mapping[str, Any]) -> bool:
    """Whether what does not apply to a setup is no longer in the exhibit."""
    return any(
        row[kind] in {*exhibit[f"{kind}s"]} - {*cut[f"{kind}s"]} for kind in ("defense", "attack") if kind in row
    )


def _whole(exhibit: Mapping[str, Any], cut: Mapping[str, Any]) -> str:
    """What an exhibit compares that it lacks methods for; empty where it can be made of what is left."""
    same = all(exhibit[key] == cut[key] for key in ("defenses", "attacks"))
    return "" if same else next((reason for key, reason in WHOLE.items() if key in exhibit), "")


def with_exhibits(paper: Mapping[str, Any], exhibits: Mapping[str, Any]) -> dict[str, Any]:
    """A paper with these of its exhibits alone, and the claims, numbers, headline and errata about them."""
    claims, headline = (
        {key: own for key, entry in paper.get(part, {}).items() if (own := _about(entry, exhibits))}
        for part in ("claims", "headline")
    )
    numbers = [own for entry in paper.get("numbers", []) if (own := _about(entry, exhibits))]
    main = [
        {**entry, "claims": [name for name in entry["claims"] if name in claims]} for entry in paper.get("main", [])
    ]
    gone = {f"exhibit {name}" for name in paper["exhibits"] if name not in exhibits}
    errata = {key: entry for key, entry in paper.get("errata", {}).items() if entry["check"] not in gone}
    own = {"exhibits": dict(exhibits), "numbers": numbers, "claims": claims, "headline": headline}
    return {**paper, **own, "main": main, "errata": errata}


def _about(entry: Mapping[str, Any], exhibits: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of which one reading, or all there is, is about these exhibits, with a check that is; else empty."""
    if "check" not in entry:
        return {**entry}
    check = next((one for one in check_lines.of(entry) if one["exhibit"] in exhibits), None)
    return {**entry, "check": check} if check else {}
