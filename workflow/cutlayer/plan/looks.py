"""Looks: the color, the marker and the dashes of a method, from its name, the same in every figure.

A name prefers a color. Of the methods that meet in a game, those that params.yaml names first choose first, so that a
new one, named last, gets a free color and changes no other. Where all colors are taken the one that fewest have is
shared. What shares a color, the variants of a method above all, differs in marker, and as long as there are any in
dashes. The undefended run is black.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from . import plugins
from .sweeps import UNDEFENDED

Look = dict[str, Any]  # color, marker, linestyle

# "Muted" of Paul Tol's color schemes (2021), for color-blind readers, without its yellow, too pale for a line.
COLORS = ("#CC6677", "#332288", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499")
MARKERS = "os^DvP<X>dph8H"
STEP = 3  # from one variant's marker to the next; all are taken in turn
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (3, 1, 1, 1, 1, 1)))
BLACK: Look = {"color": "#000000", "marker": "*", "linestyle": "-"}


def looks(kind: str, variants: Mapping[str, Mapping[str, Any]]) -> dict[str, Look]:
    """The look of each variant of a kind, in the order of params.yaml."""
    colors: dict[str, int] = {}  # method -> its color's place
    given: dict[str, Look] = {}
    for name, variant in variants.items():
        method = variant["use"]
        if method == UNDEFENDED:
            given[name] = BLACK
            continue
        if method not in colors:
            rivals = [color for other, color in colors.items() if _meet(kind, method, other)]
            colors[method] = _free(method, rivals)
        color = colors[method]
        alike = [variants[other]["use"] for other in given]
        place = sum(colors.get(other) == color and _meet(kind, method, other) for other in alike)
        marker = MARKERS[(color + STEP * place) % len(MARKERS)]
        given[name] = {"color": COLORS[color], "marker": marker, "linestyle": DASHES[place % len(DASHES)]}
    return given


def by_place(place: int) -> Look:
    """The look of what is no method, by its place in a figure."""
    color = place % len(COLORS)
    return {
        "color": COLORS[color],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": DASHES[place // len(COLORS) % len(DASHES)],
    }


def _free(method: str, rivals: list[int]) -> int:
    """The first color from the preferred one on that fewest rivals have."""
    preferred = zlib.crc32(method.encode()) % len(COLORS)
    order = [(preferred + step) % len(COLORS) for step in range(len(COLORS))]
    return min(order, key=rivals.count)


def _meet(kind: str, method: str, other: str) -> bool:
    return bool(plugins.games(kind, method) & plugins.games(kind, other))
