"""Points of a trade-off plot as JSON, for tooltips on the site."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from cutlayer.exhibits.base import Axis, Exhibit, Points
from cutlayer.ledger import cells, names, scales
from cutlayer.plan import plugins
from cutlayer.plan.styles import by_place
from cutlayer.reference import published

from .inputs import Inputs

DIGITS = 6  # of a coordinate; a picture shows fewer
Row = Mapping[Any, Any]


def points(given: Inputs, paper: str, name: str) -> str:
    """Points of an exhibit as JSON; empty if its plot has none."""
    exhibit = given.papers[paper]["exhibits"][name]
    drawing: Exhibit = plugins.create("exhibit", *plugins.used(exhibit["draw"]))
    if type(drawing).points is Exhibit.points:
        return ""
    every = cells.load(published.cells(given.results, paper, name))
    table = cells.summarize(scales.shown(every, exhibit["draw"], given.scales), paper, name)
    found = drawing.points(table)
    return "" if found is None or found.rows.empty else _json(found, given.styles)


def _json(found: Points, styles: Mapping[str, Mapping[str, Any]]) -> str:
    panels = [_panel(own, styles) for own in _groups(found.rows.to_dict("records"), "setup", "attack")]
    text = json.dumps({"x": _axis(found.x), "y": _axis(found.y), "panels": panels}, allow_nan=False)
    return text.replace("<", "\\u003c")


def _groups(rows: Iterable[Row], *keys: str) -> list[list[Row]]:
    """Rows grouped by these keys, in order, without a data frame for each group, which would be slow."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return [*groups.values()]


def _axis(axis: Axis) -> dict[str, Any]:
    return {"label": axis.label, "log": axis.log}


def _panel(own: list[Row], styles: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Panel of one attack in one setup: its points by defense.

    A published run may have a defense that params.yaml no longer has: its style is that of its place.
    """
    setup, dataset, provenance, attack = (own[0][key] for key in ("setup", "dataset", "provenance", "attack"))
    return {
        "title": f"{names.of_setup(setup, dataset)} ({provenance}), {attack}",
        "attack": attack,
        "series": [
            {
                "name": line[0]["defense"],
                **_look(styles.get(line[0]["defense"]) or by_place(place)),
                "points": [*_points(line)],
            }
            for place, line in enumerate(_groups(own, "defense"))
        ],
    }


def _look(style: Mapping[str, Any]) -> dict[str, str]:
    return {"color": style["color"], "marker": style["marker"]}


def _points(line: Iterable[Row]) -> Iterator[dict[str, Any]]:
    for row in line:
        sides = {f"{side}{end}": row[f"{side}{end}"] for side in "xy" for end in ("", "_low", "_high")}
        if not pd.isna(sides["x"]) and not pd.isna(sides["y"]):
            numbers = {key: None if pd.isna(value) else float(f"{value:.{DIGITS}g}") for key, value in sides.items()}
            yield {"setting": row["setting"], "seeds": int(row["seeds"]), **numbers}
