"""Plot styles: the color, marker and line style of a method, from its name, the same in every figure.

Colors are assigned by name, in the order of params.yaml, so that a new method, listed last, gets a free color and
changes no other. Once all colors of a game are taken, methods share the one that fewest have. Methods and variants of
one color differ in marker and, as far as possible, in line style. The undefended run is black.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from . import plugins
from .sweeps import UNDEFENDED

Style = dict[str, Any]  # color, marker, linestyle

# "Muted" of Paul Tol's color schemes (2021), for color-blind readers, without its yellow, too pale for a line.
COLORS = ("#CC6677", "#332288", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499")
MARKERS = "os^DvP<X>dph8H"
STEP = 3  # from one variant's marker to the next; all are taken in turn
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (3, 1, 1, 1, 1, 1)))
BLACK: Style = {"color": "#000000", "marker": "*", "linestyle": "-"}


def styles(kind: str, variants: Mapping[str, Mapping[str, Any]]) -> dict[str, Style]:
    """Style of each variant of a kind ("defense", "attack"), given in the order of params.yaml."""
    colors: dict[str, int] = {}  # method -> its color's place
    given: dict[str, Style] = {}
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


def by_place(place: int) -> Style:
    """Style of a series that is no method, by its place in a figure."""
    color = place % len(COLORS)
    return {
        "color": COLORS[color],
        "marker": MARKERS[place % len(MARKERS)],
        "linestyle": DASHES[place // len(COLORS) % len(DASHES)],
    }


def _free(method: str, rivals: list[int]) -> int:
    """Index of the color that fewest rivals have; of several, the first from the method's preferred one on."""
    preferred = zlib.crc32(method.encode()) % len(COLORS)
    order = [(preferred + step) % len(COLORS) for step in range(len(COLORS))]
    return min(order, key=rivals.count)


def _meet(kind: str, method: str, other: str) -> bool:
    return bool(plugins.games(kind, method) & plugins.games(kind, other))
