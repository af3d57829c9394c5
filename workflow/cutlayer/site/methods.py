"""Pages of methods and boards of games: each leak that an exhibit measured, by setup, defense and attack."""

from __future__ import annotations

import ast
import csv
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cutlayer.ledger import names
from cutlayer.ledger.readable import decimals, interval, number
from cutlayer.metrics.declared import BOUND, METRICS, SHOWN
from cutlayer.plan import plugins
from cutlayer.plan.classes import ROOT, parsed

from .inputs import Inputs

GAMES = {  # whose what is protected, and from whom
    "vertical": ("the features of the passive party", "the active party, which gets prediction scores"),
    "split": ("the labels of the label party", "the feature party, which gets gradients"),
    "split_server": ("attributes of records", "the server, which gets their features"),
    "federated": ("attributes of clients' records", "the server, which gets representations of them"),
}
KINDS = ("defense", "attack")
ALONG = ("d", "step", "feature", "predictions", "day", "quantile", "point", "inference", "weight", "share")
PLACE = ("data", "setup", "metric")  # where runs are ranked
REPORTED = ("attacks_of_the_papers", "attacks_of_the_paper")  # sets of attacks, as the arena names them
SURELY, BY = "auc_measured", "any_attack"  # what surely leaks, of runs in which coins stand for what is protected
AUDITED = ("_coins", "_pairs")  # how their setups end
Row = dict[str, Any]


def place(game: str, kind: str, name: str) -> str:
    """Path of a method's page in the site."""
    return f"methods/{game}/{kind}_{name}.html"


def write(given: Inputs, write_page: Callable[..., None]) -> None:
    """Write the board of each game and the page of each of its methods, by the best evidence."""
    at = given.other.place if given.evidence and given.other else ""
    measured, times = _measured(given.evidence or given, given.variants, at)
    if at and given.evidence:
        measured, times = _with_own((measured, times), _measured(given, given.variants, ""))
    for game, (what, whom) in GAMES.items():
        own = [row for row in measured if row["game"] == game]
        methods = {kind: [_method(kind, name, game) for name in sorted(plugins.names(kind, game))] for kind in KINDS}
        common = {"game": game, "what": what, "whom": whom, "at": at, "methods": methods}
        sees = sorted({part for row in own for part in row["sees"]})
        write_page(f"methods/{game}/index.html", "board", rows=own, sees=sees, **common)
        for one in (one for kind in KINDS for one in methods[kind]):
            rows = [row for row in own if one["name"] in row[f"{one['kind']}_files"]]
            slow = [
                row for row in times if row["game"] == game and row["file"] == one["name"] and one["kind"] == "defense"
            ]
            write_page(one["place"], "method", method=one, rows=rows, times=slow, **common)


def _method(kind: str, name: str, game: str) -> Row:
    """A method's text, parameters and file."""
    found = plugins.method(kind, name, game)
    text = ast.get_docstring(parsed(found.path)) or ""
    first, _, rest = text.partition("\n\n")
    return {
        "kind": kind, "name": name, "place": place(game, kind, name),
        "first": " ".join(first.partition(": ")[2].split()),
        "text": rest, "parameters": found.parameters, "sees": sorted(found.constants.get("sees", ())),
        "file": os.path.relpath(found.path, ROOT.parents[1]),
    }  # fmt: skip


def _with_own(theirs: tuple[list[Row], list[Row]], own: tuple[list[Row], list[Row]]) -> tuple[list[Row], list[Row]]:
    """Leaks and times of the reference, and, marked `own`, your run's of methods that the reference does not have."""
    known = [{name for row in rows for name in _methods(row)} for rows in theirs]
    more = [
        [row | {"own": True} for row in rows if not there.issuperset(_methods(row))]
        for rows, there in zip(own, known, strict=True)
    ]
    leaks = sorted([*theirs[0], *more[0]], key=lambda row: [row[name] for name in PLACE])
    return leaks, [*theirs[1], *more[1]]


def _methods(row: Row) -> set[tuple[str, str, str]]:
    """Game, kind and file of the methods of a row."""
    found = {(row["game"], "defense", row["file"])}
    return found | {(row["game"], "attack", name) for name in row.get("attack_files", ())}


def _measured(given: Inputs, variants: Mapping[str, Mapping[str, str]], at: str) -> tuple[list[Row], list[Row]]:
    """Leaks of all exhibits, each once, the least first in each setup; and ratios of times.

    `at` is the folder of the site that has their exhibits.
    """
    found: dict[tuple[str, ...], Row] = {}
    times: list[Row] = []
    surely: dict[tuple[str, str, str], str] = {}
    for paper, content in given.papers.items():
        for exhibit in content["exhibits"]:
            table = _read(given.results / f"exhibits/{paper}/{exhibit}.csv")
            for row in table:
                row["game"] = variants.get("setup", {}).get(row["setup"], "")
                row["file"] = variants.get("defense", {}).get(row["defense"], row["defense"])
                row |= {"paper": paper, "exhibit": exhibit, "data": names.of_setup(row["setup"], row["dataset"])}
                row |= {"at": at, "own": False}
            times += [row | {"value": _text(row)} for row in table if row["metric"] in SHOWN["time"]]
            own = {_audited(row): _text(row) for row in table if (row["metric"], row["attack"]) == (SURELY, BY)}
            surely = own | surely  # the audit of one release comes after that of all
            beside = {
                tuple(row[key] for key in ("setup", "defense", "setting", "attack", "metric")): row for row in table
            }
            for row in table:
                if row["metric"] in SHOWN["leak"] and row["attack"] and row["game"] in GAMES:
                    key = tuple(row[name] for name in ("setup", "defense", "setting", "attack", "metric"))
                    found.setdefault(key, _leak(row, beside, variants))
    return _ranked(row | {"surely": surely.get(_audited(row), "")} for row in found.values()), times


def _audited(row: Row) -> tuple[str, str, str]:
    """The run of a row, whether it is its audit's or not."""
    setup = row["setup"]
    for end in AUDITED:
        setup = setup.removesuffix(end)
    return setup, row["defense"], row["setting"]


def _read(file: Path) -> list[Row]:
    """Rows with a mean of an exhibit's csv, unless they are along an axis."""
    with file.open(newline="", encoding="utf-8") as lines:
        return [row for row in csv.DictReader(lines) if row["mean"] and not any(row.get(name) for name in ALONG)]


def _leak(row: Row, beside: Mapping[tuple[str, ...], Row], variants: Mapping[str, Mapping[str, str]]) -> Row:
    """A leak as the pages show it, with utility, bound and the leak without a defense of the same exhibit."""
    by = (row.get("by") or row["attack"]).split(", ")
    files = [variants.get("attack", {}).get(name, name) for name in by]
    known = [name for name in files if name in plugins.names("attack", row["game"])]
    seen = (plugins.method("attack", name, row["game"]).constants["sees"] for name in known)
    run = row["setup"], row["defense"], row["setting"]
    bounds = (name for name, metric in METRICS.items() if metric.kind == BOUND)
    return row | {
        "value": _text(row), "mean": float(row["mean"]), "attacks": [*zip(by, files, strict=True)],
        "defense_files": [row["file"]], "attack_files": known,
        "sees": sorted(set().union(*seen)),
        "utility": _first(beside, [(*run, "", name) for name in SHOWN["utility"]]),
        "bound": _first(beside, [(*run, "", name) for name in bounds]),
        "undefended": _first(beside, [(row["setup"], "none", "", row["attack"], row["metric"])]),
        "reported": _first(beside, [(*run, name, row["metric"]) for name in REPORTED if name != row["attack"]]),
    }  # fmt: skip


def _first(beside: Mapping[tuple[str, ...], Row], keys: Iterable[tuple[str, ...]]) -> str:
    return next((_text(beside[key]) for key in keys if key in beside), "")


def _text(row: Row) -> str:
    low, high = (float(row[end]) if row[end] else float("nan") for end in ("low", "high"))
    return " ".join(
        filter(None, [number(float(row["mean"]), decimals(low, high)), f"({interval(low, high)})"])
    ).removesuffix(" ()")


def _ranked(rows: Iterable[Row]) -> list[Row]:
    """Rows by setup and metric, each with the rank of its run by the strongest attack, and whether it is that one's."""
    return [row for _, own in _grouped(rows, *PLACE) for row in _with_ranks(own)]


def _with_ranks(rows: list[Row]) -> Iterator[Row]:
    runs = dict(_grouped(sorted(rows, key=_strength, reverse=True), "defense", "setting"))
    strengths = [_strength(run[0]) for run in runs.values()]
    for run in sorted(runs.values(), key=lambda run: _strength(run[0])):
        rank = 1 + sum(strength < _strength(run[0]) for strength in strengths)  # equal ones share it
        for row in run:
            yield row | {"rank": rank, "strongest": row is run[0], "met": len(run)}


def _strength(row: Row) -> float:
    """The larger, the more leaks: of an error, the smaller."""
    return row["mean"] if METRICS[row["metric"]].better == "down" else -row["mean"]


def _grouped(rows: Iterable[Row], *keys: str) -> list[tuple[tuple[str, ...], list[Row]]]:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return sorted(groups.items())
