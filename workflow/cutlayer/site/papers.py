"""Content of a paper's page: card, claims by dataset, errata and readings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cutlayer.ledger import names, overview
from cutlayer.ledger.readable import OURS
from cutlayer.reference.published import TABLE

from .documents import place

Row = Mapping[str, Any]
TESTS = "tests/theory/"  # where a check without a folder is


def card(one: overview.Paper, content: Mapping[str, Any], headline: Iterable[Mapping[str, str]]) -> dict[str, Any]:
    """Card of a paper on the first page: `one`, its picture with caption, and its headline numbers."""
    claimed = [content["claims"][name]["check"]["exhibit"] for point in one.points for name in point.claims]
    drawn = [name for name in [*claimed, *content["exhibits"]] if content["exhibits"][name]["draw"]["use"] != TABLE]
    name = next(iter(drawn), "")  # empty where all are tables
    caption = content["exhibits"][name]["title"] if name else ""
    return {"one": one, "picture": name, "caption": caption, "headline": [*headline]}


def page(
    one: overview.Paper, content: Mapping[str, Any], rows: Sequence[Row], exhibits: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """Content of a paper's page, except its exhibits."""
    claims = [row for row in rows if row["kind"] != "number"]
    order = dict.fromkeys([*content["datasets"], *(row["dataset"] for row in claims)])
    shown = [name for name in order if any(row["dataset"] == name for row in claims)]
    known = {exhibit["name"] for exhibit in exhibits}
    return {
        "one": one,
        "datasets": {name: names.of_dataset(name) for name in shown},
        "provenance": {row["dataset"]: row["provenance"] for row in claims},
        "spoken_of": content["datasets"],
        "groups": groups(content, claims),
        "errata": [_erratum(key, entry, known) for key, entry in content.get("errata", {}).items()],
        "readings": [_reading(entry) for entry in content.get("readings", {}).values()],
    }


def groups(content: Mapping[str, Any], rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Claims grouped as in the paper's abstract, the others by section."""
    mains = {name: entry["text"] for entry in content.get("main", []) for name in entry["claims"]}
    found: dict[str, dict[tuple[str, ...], list[Row]]] = {entry["text"]: {} for entry in content.get("main", [])}
    for row in rows:
        group = mains.get(row["item"], row["place"].split(",")[0])
        key = row["statement"].removeprefix(OURS), row["place"], row["rule"]  # what two items may say of other data
        found.setdefault(group, {}).setdefault(key, []).append(row)
    texts = set(mains.values())
    return [
        {"title": title, "main": title in texts, "claims": [_claim(own) for own in claims.values()]}
        for title, claims in found.items()
    ]


def _claim(rows: Sequence[Row]) -> dict[str, Any]:
    """A claim with its rows by dataset."""
    cells: dict[str, list[Row]] = {}
    for row in rows:
        cells.setdefault(row["dataset"], []).append(row)
    first = rows[0]
    text = first["statement"].removeprefix(OURS)
    return {"text": text, "place": first["place"], "rule": first["rule"] or first["threshold"], "cells": cells}


def _erratum(key: str, entry: Mapping[str, str], exhibits: set[str]) -> dict[str, str]:
    """An erratum with the command of the test that shows it, or with the exhibit."""
    kind, _, name = entry["check"].partition(" ")
    if kind == "exhibit" and name in exhibits:
        return {"key": key, "text": entry["text"], "exhibit": name, "command": ""}
    test = entry["check"] if "/" in entry["check"] else TESTS + entry["check"]
    return {"key": key, "text": entry["text"], "exhibit": "", "command": f"pytest {test}"}


def _reading(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A reading: the open point, the choice with its reason, and the alternatives."""
    ways = dict(entry["alternatives"])
    chosen = ways.pop(entry["chosen"])
    measured = place(entry["measured"]) if "measured" in entry else ""
    return {**entry, "chosen": chosen, "others": [*ways.values()], "measured": measured}
