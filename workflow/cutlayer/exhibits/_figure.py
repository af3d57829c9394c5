"""Layout that all figures share: panels, styles, limits, a legend below, a footer with the provenance of the data."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.colors import to_hex, to_rgb
from matplotlib.layout_engine import TightLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import Bbox

from cutlayer.core.files import replacing
from cutlayer.plan.styles import by_place

from ._columns import reason_text
from .base import PlotContext

LINE = 0.13  # inches of a footer's line
DPI = 150
ROOMY = 3  # lines of a footer, less one, that fit below the panels
METHODS = ("attack", "defense", "scheme")  # columns whose values have the style of their names
PALEST = 0.6  # of white in the last of several settings
KIND = {"synthetic": "generated as in the paper"}
WORDS = {
    "ace": "calibration error", "auc": "AUC", "ce": "cross-entropy", "jsd": "JSD", "kl": "KL", "mse": "MSE",
    "ls": "least squares", "q95": "95% quantile", "tpr": "true positives", "1pct": "1% false ones",
    "promise": "bound", "sending": "release", "sendings": "releases",
}  # fmt: skip
NAMES = {  # of metrics that do not say what they are
    "attack_utility_known": "known rows count as right",
    "attack_utility_named": "clusters named by true labels",
    "attack_utility_oracle": "best epoch by true labels",
    "attack_utility_better": "better of two runs by true labels",
}
PRINTED: dict[str, Any] = {
    "label": "_printed",
    "markersize": 8,
    "markerfacecolor": "none",
    "markeredgewidth": 1.2,
    "linestyle": "",
    "zorder": 4,
}
WRITTEN: dict[str, dict[str, Any]] = {  # how a kind of file is: without a date; pictures in less time than with 6
    "png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 3}},
    "pdf": {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}},
}


def use_defaults() -> None:
    """Reset matplotlib to its defaults, independent of the user's matplotlibrc and of earlier figures."""
    mpl.rcdefaults()
    mpl.use("Agg")


def panels(count: int, columns: int = 0) -> tuple[Any, list[Any]]:
    """A figure with `count` axes, `columns` of them in a row (at most four if that is 0)."""
    use_defaults()
    mpl.rcParams.update(
        {"font.size": 9, "axes.titlepad": 8, "axes.grid": True, "grid.alpha": 0.3, "svg.hashsalt": "cutlayer"}
    )
    columns = columns or (count if count <= 3 else (count + 1) // 2 if count <= 8 else 4)
    rows = -(-count // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.4 * columns + 0.4, 2.7 * rows + 1.3), squeeze=False)
    flat = list(axes.flat)
    for spare in flat[count:]:
        spare.set_visible(False)
    return figure, flat[:count]


def series_styles(cells: pd.DataFrame, by: str, series: str, context: PlotContext) -> dict[str, dict[str, Any]]:
    """Color, marker and line style of each series, a value of the column `series`; `by` is the kind of a series.

    An attack, a defense or a scheme has the style of its name, and the settings of one defense get paler one by one. A
    series that is no method has a style by its place.
    """
    names = dict.fromkeys(cells[series])
    known = context.styles.get("attack" if by == "attack" else "defense", {}) if by in METHODS else {}
    who = dict(zip(cells[series], cells["attack" if by == "attack" else "defense"], strict=True))
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(who[name] if by in METHODS else str(name), []).append(name)
    styles = {}
    for place, (owner, own) in enumerate(alike.items()):
        style = known.get(owner) or by_place(place)
        for k, name in enumerate(own):
            color = _paler(style["color"], PALEST * k / max(1, len(own) - 1))
            styles[name] = {**style, "color": color, "markersize": 7 if style["marker"] == "*" else 4, "lw": 1.3}
    return {name: styles[name] for name in names}


def _paler(color: str, white: float) -> str:
    red, green, blue = (part + (1 - part) * white for part in to_rgb(color))
    return to_hex((red, green, blue))


def panel_title(setup_cells: pd.DataFrame, name: str) -> str:
    """Title of a panel: its name with the provenance of its data."""
    kinds = ", ".join(KIND.get(kind, kind) for kind in setup_cells["provenance"].unique())
    return textwrap.fill(f"{label(name)} ({kinds})", 42)


def tick_decades(axis: Any, values: Iterable[float]) -> None:
    """Set ticks of a logarithmic axis (`axes.xaxis`): powers of ten, with numbers between them where there are few."""
    found = [math.log10(value) for value in values if value > 0]
    few = not found or max(found) - min(found) < 1.5
    axis.set_major_locator(LogLocator(subs=(1, 3) if few else (1,)))
    axis.set_minor_formatter(NullFormatter())


def tick_few(axis: Any, values: Iterable[float]) -> None:
    """Set few ticks on an axis (`axes.xaxis`), integers where all values are integers."""
    axis.set_major_locator(MaxNLocator(nbins=5, integer=all(float(value).is_integer() for value in values)))


def tick_plainly(axis: Any) -> None:
    """Set ticks of a logarithmic axis (`axes.xaxis`) of about one decade as plain numbers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def same_limits(axes: Iterable[Any]) -> None:
    """Give all panels the same limits, wide enough for each of them."""
    drawn = [axis for axis in axes if axis.lines]
    for side in "xy":
        ends = [getattr(axis, f"get_{side}lim")() for axis in drawn]
        for axis in drawn:
            getattr(axis, f"set_{side}lim")(min(low for low, _ in ends), max(high for _, high in ends))


def within(axis: Any, side: str, least: pd.Series, most: pd.Series, whole: bool = True) -> None:
    """Clip an axis ("x" or "y") to the range of its data; `whole` draws markers on the edge in full."""
    low, high = getattr(axis, f"get_{side}lim")()
    linear = getattr(axis, f"get_{side}scale")() == "linear"
    getattr(axis, f"set_{side}lim")(max(low, least.min()) if linear else low, min(high, most.max()))
    for line in axis.lines if whole else ():
        if line.get_marker() not in ("", "None", None):
            line.set_clip_on(False)


def absent(axis: Any, skipped: pd.Series) -> None:
    """Write into an empty panel why it has no curve."""
    failed = skipped[skipped.map(reason_text) == skipped]
    first = (failed if len(failed) == len(skipped) else skipped).iloc[0]
    text = "\n".join(textwrap.wrap(label(reason_text(first)), 34))
    axis.text(0.5, 0.5, text, ha="center", va="center", transform=axis.transAxes, fontsize=8)
    axis.set(xticks=[], yticks=[])


def label(name: str) -> str:
    """A name in the words of a reader: spaces in place of underscores, acronyms in capitals."""
    words = NAMES.get(name, str(name)).replace("_", " ").split(" ")
    return " ".join(WORDS.get(word, word) for word in words)


def finish(figure: Any, title: str, foot: str, handles: Mapping[str, Any], files: Mapping[str, Path]) -> None:
    """Add title, legend and footer to a figure, and write its files."""
    width, height = figure.get_size_inches()
    foot = "\n".join(textwrap.wrap(foot, int(17 * width)))
    title = "\n".join(textwrap.wrap(title, int(10 * width)))
    legend, rows = _legend(figure, handles, width)
    height += LINE * max(0, foot.count("\n") - ROOMY)  # a long footer is not at the panels' expense
    height += 0.2 * max(0, rows - 1) + 0.17 * title.count("\n")
    figure.set_size_inches(width, height)
    figure.suptitle(title, y=1 - 0.08 / height, va="top", fontsize=11)
    below = 0.20 * rows + LINE * (foot.count("\n") + 1) + 0.1
    # Not figure.tight_layout, after which each file is drawn twice.
    TightLayoutEngine(rect=(0, below / height, 1, 1 - 0.1 / height)).execute(figure)  # above them, below the title
    if legend:
        legend.set_bbox_to_anchor((0.5, (LINE * (foot.count("\n") + 1) + 0.05) / height))
    figure.text(0.5, 0.03 / height, foot, ha="center", va="bottom", fontsize=7, color="#444444")
    save(figure, files)
    plt.close(figure)


def save(figure: Any, files: Mapping[str, Path], part: Bbox | None = None) -> None:
    """Write a figure, or a part of it in inches, as `png` and `pdf` if requested; equal data give equal files."""
    for kind in filter(files.__contains__, WRITTEN):
        with replacing(files[kind]) as temporary:
            figure.savefig(temporary, format=kind, dpi=DPI, bbox_inches=part, **WRITTEN[kind])


def _legend(figure: Any, handles: Mapping[str, Any], width: float) -> tuple[Any, int]:
    """Add a legend with as many columns as fit; return it with its number of rows."""
    if not handles:
        return None, 0
    columns = min(len(handles), 1 + int(width / (0.5 + 0.06 * max(map(len, handles)))))  # about as many as fit
    while True:
        legend = figure.legend(
            list(handles.values()), [label(name) for name in handles], ncol=columns, loc="lower center",
            bbox_to_anchor=(0.5, 0), frameon=False, fontsize=8,
        )  # fmt: skip
        wide = legend.get_window_extent(figure.canvas.get_renderer()).width / figure.dpi
        if wide <= width or columns == 1:
            return legend, -(-len(handles) // columns)
        legend.remove()
        columns = min(columns - 1, max(1, int(columns * width / wide)))


def draw_printed(axis: Any, x: Iterable[float], y: Iterable[float], style: Mapping[str, Any]) -> Any:
    """Draw the published values as hollow points in the style of their series; return a neutral legend handle."""
    axis.plot(list(x), list(y), color=style["color"], marker=style["marker"], **PRINTED)
    return Line2D([], [], color="#444444", marker="o", **PRINTED)
