"""hover: the points of a trade-off, each of which says what it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from cutlayer.exhibits.base import Axis, Exhibit, Points
from cutlayer.ledger import cells, names, scales
from cutlayer.plan import plugins
from cutlayer.plan.looks import by_place
from cutlayer.reference import published

from .sources import Sources

DIGITS = 6  # of a coordinate; a picture shows fewer
Row = Mapping[Any, Any]


def points(given: Sources, paper: str, name: str) -> str:
    """The points of an exhibit as JSON for a page; empty where its drawing has none."""
    exhibit = given.papers[paper]["exhibits"][name]
    drawing: Exhibit = plugins.create("exhibit", *plugins.used(exhibit["draw"]))
    if type(drawing).points is Exhibit.points:
        return ""
    every = cells.load(published.cells(given.results, paper, name))
    table = cells.summarize(scales.shown(every, exhibit["draw"], given.scales), paper, name)
    found = drawing.points(table)
    return "" if found is None or found.rows.empty else _json(found, given.looks)


def _json(found: Points, looks: Mapping[str, Mapping[str, Any]]) -> str:
    panels = [_panel(own, looks) for own in _groups(found.rows.to_dict("records"), "setup", "attack")]
    told = json.dumps({"x": _axis(found.x), "y": _axis(found.y), "panels": panels}, allow_nan=False)
    return told.replace("<", "\\u003c")


def _groups(rows: Iterable[Row], *keys: str) -> list[list[Row]]:
    """Rows that have these keys in common, in their order; a frame for each of a thousand groups would take longer."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [*groups.values()]


def _axis(axis: Axis) -> dict[str, Any]:
    return {"label": axis.label, "log": axis.log}


def _panel(own: list[Row], looks: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The points of one attack in one setup, defense by defense.

    A published run may have a defense that your catalog has no more: its look is that of its place.
    """
    setup, dataset, provenance, attack = (own[0][key] for key in ("setup", "dataset", "provenance", "attack"))
    return {
        "title": f"{names.of_setup(setup, dataset)} ({provenance}), {attack}",
        "attack": attack,
        "series": [
            {
                "name": line[0]["defense"],
                **_look(looks.get(line[0]["defense"]) or by_place(place)),
                "points": [*_points(line)],
            }
            for place, line in enumerate(_groups(own, "defense"))
        ],
    }


def _look(look: Mapping[str, Any]) -> dict[str, str]:
    return {"color": look["color"], "marker": look["marker"]}


def _points(line: Iterable[Row]) -> Iterator[dict[str, Any]]:
    for row in line:
        sides = {f"{side}{end}": row[f"{side}{end}"] for side in "xy" for end in ("", "_low", "_high")}
        if not pd.isna(sides["x"]) and not pd.isna(sides["y"]):
            numbers = {key: None if pd.isna(value) else float(f"{value:.{DIGITS}g}") for key, value in sides.items()}
            yield {"setting": row["setting"], "seeds": int(row["seeds"]), **numbers}
