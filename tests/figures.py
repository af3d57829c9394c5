"""What tests ask of a drawn figure or table."""

from __future__ import annotations

import itertools
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox


def visible(figure: Figure) -> list[Axes]:
    """The panels that are shown."""
    return [axis for axis in figure.axes if axis.get_visible()]


def curves(axis: Axes) -> list[Line2D]:
    """A panel's lines without the dots of single seeds and the paper's points."""
    return [line for line in axis.lines if line.get_label() not in ("_seeds", "_printed")]


def labeled(axis: Axes, label: str) -> list[Line2D]:
    """A panel's `_seeds` or its points that are `_printed`."""
    return [line for line in axis.lines if line.get_label() == label]


def cut_off(figure: Figure) -> list[str]:
    """What is not wholly on the canvas, or in a table in its cell, and titles and legends that overlap."""
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    grids = [grid for axis in figure.axes for grid in axis.tables]
    if grids:  # saved with what lies outside of the canvas
        cells = [cell for grid in grids for cell in grid.get_celld().values() if cell.get_text().get_text()]
        boxes = [(one.get_text(), one.get_text().get_window_extent(renderer), one.get_window_extent()) for one in cells]
        return [text.get_text() for text, own, cell in boxes if not _within(own, cell)]
    apart = [*figure.texts, *figure.legends, *([figure._suptitle] if figure._suptitle else [])]
    whole = [(str(one), one.get_tightbbox(renderer)) for one in [*visible(figure), *apart]]
    titles = [axis.title for axis in visible(figure) if axis.title.get_text()]
    boxes = [one.get_window_extent(renderer) for one in dict.fromkeys([*apart, *titles])]
    found = [name for name, box in whole if not _within(box, figure.bbox)]
    return found + [f"{a} overlaps {b}" for a, b in itertools.combinations(boxes, 2) if a.overlaps(b)]


def _within(inner: Bbox, outer: Bbox) -> bool:
    return bool(
        inner.x0 >= outer.x0 - 1 and inner.y0 >= outer.y0 - 1 and inner.x1 <= outer.x1 + 1 and inner.y1 <= outer.y1 + 1
    )


def body(folder: Path) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table that was drawn."""
    lines = [line for line in (folder / "table.md").read_text().splitlines() if line.startswith("|")]
    head, _, *rows = [[part.strip() for part in line.strip("|").split("|")] for line in lines]
    return head, rows
