"""Tables rendered as pictures, with columns as wide and rows as high as their text."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.transforms import Bbox

from ._figure import DPI, label, save, use_defaults

WIDEST, NARROW = 44, 9  # characters of a line, at most, and of a column, at least
CHARACTER, LINE, PADDING, MARGIN = 0.085, 0.17, 0.14, 0.1  # inches


def picture(text: pd.DataFrame, title: str, foot: str, files: Mapping[str, Path]) -> None:
    """Write a table of texts as a picture; row keys equal to those of the row above are left blank."""
    use_defaults()
    lines = _lines(text)
    wide = [CHARACTER * max(_width(line[i]) for line in lines) + PADDING for i in range(len(lines[0]))]
    high = [LINE * max(part.count("\n") + 1 for part in line) + PADDING for line in lines]
    width = max(sum(wide), 5.0)
    title, foot = (_filled(part, int(width * rate)) for part, rate in ((title, 11), (foot, 17)))
    below, above = 0.14 * (foot.count("\n") + 1) + 0.1, 0.19 * (title.count("\n") + 1) + 0.1
    height = sum(high) + below + above
    figure = plt.figure(figsize=(width, height), dpi=DPI)
    axis = figure.add_axes((0, below / height, 1, sum(high) / height))
    axis.axis("off")
    place = Bbox.from_bounds((1 - sum(wide) / width) / 2, 0, sum(wide) / width, 1)
    grid = axis.table(lines, cellLoc="right", bbox=place)
    grid.auto_set_font_size(False)
    grid.set_fontsize(9)
    _dress(grid, wide, high, text.index.nlevels)
    figure.text(0.5, 1 - 0.05 / height, title, ha="center", va="top", fontsize=10)
    figure.text(0.5, 0.04 / height, foot, ha="center", va="bottom", fontsize=7, color="#444444")
    drawn = figure.get_tightbbox().padded(MARGIN)  # once: with bbox_inches="tight" each file is drawn twice
    save(figure, files, drawn)
    plt.close(figure)


def _lines(text: pd.DataFrame) -> list[list[str]]:
    """The wrapped cells of header and body; the header is no wider than it must be."""
    several = text.index.nlevels > 1
    keys = [list(key) if several else [key] for key in text.index]
    above = [[None] * text.index.nlevels, *keys]
    shown = [
        [name if key[: i + 1] != before[: i + 1] else "" for i, name in enumerate(key)]
        for key, before in zip(keys, above[:-1] if keys else [], strict=True)
    ]
    body = [[*map(label, key), *row] for key, row in zip(shown, text.to_numpy().tolist(), strict=True)]
    body = [[_filled(str(part), WIDEST) for part in line] for line in body]
    head = [label(name) for name in [*(text.index.names if several else [""]), *text.columns]]
    wide = [max([NARROW, *(_width(line[i]) for line in body)]) for i in range(len(head))]
    return [[_filled(part, most) for part, most in zip(head, wide, strict=True)], *body]


def _filled(text: str, most: int) -> str:
    """Text wrapped to lines of at most `width` characters; its own line breaks are kept."""
    return "\n".join(textwrap.fill(line, most, break_long_words=False) for line in text.split("\n"))


def _width(part: str) -> int:
    return max(map(len, part.split("\n")))


def _dress(grid: Any, wide: list[float], high: list[float], keys: int) -> None:
    for (row, place), cell in grid.get_celld().items():
        cell.set_width(wide[place])
        cell.set_height(high[row])
        cell.set_edgecolor("#999999")
        cell.set_facecolor("#eeeeee" if row == 0 or place < keys else "white")
        cell.get_text().set_horizontalalignment("left" if place < keys else "right")
