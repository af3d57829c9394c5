"""Picture of our values against the published ones, for each paper, by defense and by attack."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.exhibits._figure import finish, panels
from cutlayer.ledger import distance
from cutlayer.plan.styles import by_place

MOST = 1.0  # of a share; other numbers, such as times, have no place on these axes
RING = {"marker": "o", "markersize": 8, "markerfacecolor": "none", "color": "#000000", "linestyle": "", "lw": 0.8}
ALONE = "no attack"
Styles = Mapping[str, Mapping[str, Any]]


def draw(verdicts: pd.DataFrame, paper: str, styles: Styles, files: Mapping[str, Path]) -> None:
    """Write a paper's picture as `png` and `pdf` from its rows of claims.csv; `styles` are those of the defenses."""
    found = distance.compared(verdicts[verdicts["paper"] == paper])
    rows = found.assign(printed=found["ours"] - found["difference"])  # an AUC is what it leaks
    rows = rows[rows["printed"].between(0, MOST) & rows["ours"].between(0, MOST)]
    rows = rows.assign(attack=rows["attack"].where(rows["attack"] != "", ALONE))
    figure, axes = panels(2)
    handles: dict[str, Any] = {}
    for axis, kind in zip(axes, ("defense", "attack"), strict=True):
        names = dict.fromkeys(rows[kind])
        known = styles if kind == "defense" else {}
        chosen = {name: known.get(name) or by_place(place) for place, name in enumerate(names)}
        handles |= _panel(axis, rows, kind, chosen)
    finish(figure, f"{paper}: ours against what is printed", _foot(found, len(rows)), handles, files)


def _panel(axis: Any, rows: pd.DataFrame, kind: str, styles: Styles) -> dict[str, Any]:
    axis.plot([0, MOST], [0, MOST], color="#888888", lw=0.8, zorder=0)
    handles = {}
    for name, own in rows.groupby(kind, sort=False):
        style = {key: styles[str(name)][key] for key in ("color", "marker")}
        sides = [own["ours"] - own["low"], own["high"] - own["ours"]]
        axis.errorbar(own["printed"], own["ours"], yerr=sides, fmt="none", ecolor=style["color"], alpha=0.3, lw=0.8)
        handles[str(name)] = axis.plot(own["printed"], own["ours"], **style, markersize=4, linestyle="")[0]
    plain = rows[rows["defended"] == "no"]
    if not plain.empty:
        handles["no defense acts"] = axis.plot(plain["printed"], plain["ours"], **RING)[0]
    if not rows.empty:
        ends = _ends([rows["printed"], rows["low"].fillna(rows["ours"]), rows["high"].fillna(rows["ours"])])
        axis.set(xlim=ends, ylim=ends)
    axis.set_title(f"by {kind}", fontsize=9)
    axis.set_xlabel("printed", fontsize=8)
    axis.set_ylabel("ours", fontsize=8)
    return handles


def _ends(columns: Iterable[pd.Series]) -> tuple[float, float]:
    """Limits of an axis: the least and the greatest value with a margin, clipped to [0, 1] for shares."""
    every = pd.concat(list(columns)).clip(0, MOST)
    return max(0.0, float(every.min()) - 0.03), min(MOST, float(every.max()) + 0.03)


def _foot(found: pd.DataFrame, drawn: int) -> str:
    origin = found.groupby("provenance", sort=False)["dataset"].unique()
    data = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in origin.items())
    seeds = f"{int(found['seeds'].max())} seeds, 95% intervals" if len(found) else ""
    left = f"{len(found) - drawn} numbers that are no shares are not drawn" if len(found) > drawn else ""
    scales = " and ".join(found["scale"].unique())
    scale = f"scale {scales}" if scales else "no printed number has one of ours beside it"
    return " · ".join(part for part in (scale, f"{drawn} numbers", seeds, data, left) if part)
