"""What all figures share: panels, colors, legend below, a footer that says where the numbers come from."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.ticker import LogLocator, NullFormatter

from cutlayer.core import failures
from cutlayer.core.files import replacing

# Okabe-Ito without its yellow, then two more; every series also has its own marker and dashes.
COLORS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#E69F00",
    "#000000",
    "#7F7F7F",
    "#8C564B",
    "#6A3D9A",
)
MARKERS = "osD^v<>PX*"
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
LINE = 0.13  # inches of a footer's line
ROOMY = 3  # lines of a footer, less one, that fit below the panels
KIND = {"synthetic": "generated as in the paper"}
METADATA = {"png": {"Software": None}, "pdf": {"CreationDate": None, "Producer": None, "Creator": None}}


def panels(count: int, columns: int = 0) -> tuple[Any, list[Any]]:
    """A figure with `count` axes, `columns` of them a row, or else at most four."""
    mpl.use("Agg")
    mpl.rcParams.update({"font.size": 9, "axes.grid": True, "grid.alpha": 0.3, "svg.hashsalt": "cutlayer"})
    columns = columns or (count if count <= 3 else (count + 1) // 2 if count <= 8 else 4)
    rows = -(-count // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.4 * columns + 0.4, 2.7 * rows + 1.3), squeeze=False)
    flat = list(axes.flat)
    for spare in flat[count:]:
        spare.set_visible(False)
    return figure, flat[:count]


def style(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Color, marker and dashes of each series, by its place."""
    return {
        name: {
            "color": COLORS[i % 10],
            "marker": MARKERS[i % 10],
            "linestyle": DASHES[i % 5],
            "markersize": 3.5,
            "lw": 1.3,
        }
        for i, name in enumerate(names)
    }


def panel_title(setup_cells: pd.DataFrame, name: str) -> str:
    """The panel's name with the provenance of its data."""
    kinds = ", ".join(KIND.get(kind, kind) for kind in setup_cells["provenance"].unique())
    return f"{label(name)} ({kinds})"


def tick_decades(axis: Any, values: Iterable[float]) -> None:
    """Ticks of a logarithmic axis (`axes.xaxis`): powers of ten, and numbers between them where there are few."""
    found = [math.log10(value) for value in values if value > 0]
    few = not found or max(found) - min(found) < 1.5
    axis.set_major_locator(LogLocator(subs=(1, 3) if few else (1,)))
    axis.set_minor_formatter(NullFormatter())


def absent(axis: Any, skipped: pd.Series) -> None:
    """Say in place of a panel why it has no curve: it does not apply or, if it does, it failed."""
    failed = skipped.str.startswith(failures.PREFIX)
    reason = skipped.iloc[0] if failed.all() else f"does not apply: {label(skipped[~failed].iloc[0])}"
    text = "\n".join(textwrap.wrap(reason, 34))
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes, fontsize=8)
    axis.set(xticks=[], yticks=[])


def label(name: str) -> str:
    """A name as people read it."""
    return str(name).replace("_", " ")


def finish(figure: Any, title: str, foot: str, handles: Mapping[str, Any], files: Mapping[str, Path]) -> None:
    """Add title, legend and footer; write png and pdf without a date, so that equal data give equal files."""
    width, height = figure.get_size_inches()
    foot = "\n".join(textwrap.wrap(foot, int(17 * width)))
    height += LINE * max(0, foot.count("\n") - ROOMY)  # a long footer is not at the panels' expense
    figure.set_size_inches(width, height)
    title = "\n".join(textwrap.wrap(title, int(10 * width)))
    figure.suptitle(title, y=1 - 0.08 / height, va="top", fontsize=11)
    longest = max(map(len, handles), default=0)
    rows = -(-len(handles) // max(1, int(width / (0.5 + 0.07 * longest))))
    columns = -(-len(handles) // rows) if handles else 1
    below = 0.20 * rows + LINE * (foot.count("\n") + 1) + 0.1
    figure.tight_layout(rect=(0, below / height, 1, 1 - 0.1 / height))  # and below the title
    if handles:
        anchor = (LINE * (foot.count("\n") + 1) + 0.05) / height
        figure.legend(
            list(handles.values()), [label(name) for name in handles], ncol=columns, loc="lower center",
            bbox_to_anchor=(0.5, anchor), frameon=False, fontsize=8,
        )  # fmt: skip
    figure.text(0.5, 0.03 / height, foot, ha="center", va="bottom", fontsize=7, color="#444444")
    for kind in ("png", "pdf"):
        with replacing(files[kind]) as temporary:
            figure.savefig(temporary, format=kind, dpi=150, metadata=METADATA[kind])
    plt.close(figure)
