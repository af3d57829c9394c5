"""Draw docs/architecture.png: python docs/architecture.py, in the project's environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

os.environ["MPLBACKEND"] = "agg"  # a notebook's is not known here

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

INK, SOFT, LINE, WARN = "#1b2430", "#55636f", "#8fa0b3", "#a3541a"
DATA, RUNS, SHOWN, JUDGED = "#dbe9f8", "#fde4cf", "#ece2f6", "#dcf1df"
SIZE, DPI, EXTENT = (10.0, 7.4), 160, (13.0, 9.62)
FLOW = (  # the rows of boxes: name, what it is, where it lies, color; the second is read from right to left
    (
        ("sources", "original files,\nURLs, checksums", "data/raw", DATA),
        ("normalised", "arrays and labels,\nreal or stand-in", "data/normalised", DATA),
        ("runs", "trainings under\na defense", "results/runs", RUNS),
        ("scores", "attacks on what an\nadversary sees", "results/scores", RUNS),
    ),
    (
        ("site", "pages to read,\nwithout a network", "results/site", JUDGED),
        ("ledger", "what each paper\nsays above all", "results/ledger.md", JUDGED),
        ("claims", "verdicts, each\nwith an interval", "results/claims.csv", JUDGED),
        ("exhibits", "tables, figures and\nthe data behind them", "results/exhibits", SHOWN),
    ),
)
PACKAGES = (  # row, first and last box that it makes, its name
    (0, 0, 1, "cutlayer/data"),
    (0, 2, 3, "cutlayer/games, metrics"),
    (1, 0, 0, "cutlayer/site"),
    (1, 1, 2, "cutlayer/ledger"),
    (1, 3, 3, "cutlayer/exhibits"),
)
LAYERS = (  # from the top: what a layer decides, its name, and how
    ("what from what", "Snakefile, rules/", "which job makes which file, from which files and which code", "#eceff4"),
    ("how jobs start", "workflow/launch", "warm processes on this machine, or SLURM on a cluster", "#e2e8ef"),
    ("which version", "git, DVC", "git has the code and the papers, DVC the data and the results", "#d8e0ea"),
)
LEFT, STEP, WIDTH, TALL = 0.8, 3.05, 2.3, 1.62
BOTTOMS = (6.05, 3.5)


def box(axes: Axes, place: tuple[float, float], size: tuple[float, float], color: str, **style: Any) -> None:
    """A rounded box."""
    look = {"edgecolor": LINE, "linewidth": 1.1, "boxstyle": "round,pad=0,rounding_size=0.16", **style}
    axes.add_patch(FancyBboxPatch(place, *size, facecolor=color, **look))


def say(axes: Axes, x: float, y: float, text: str, size: float, **style: Any) -> None:
    """Text, centered by default."""
    look = {"ha": "center", "va": "center", "color": INK, "linespacing": 1.25, **style}
    axes.text(x, y, text, fontsize=size, **look)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """An arrow from one box to the next."""
    look = {"arrowstyle": "-|>", "mutation_scale": 16, "linewidth": 1.8, "color": SOFT, "shrinkA": 3, "shrinkB": 3}
    axes.add_patch(FancyArrowPatch(start, end, **look))


def flow(axes: Axes) -> None:
    """The boxes and the arrows between them."""
    for row, (boxes, bottom) in enumerate(zip(FLOW, BOTTOMS, strict=True)):
        for place, (name, what, where, color) in enumerate(boxes):
            x = LEFT + place * STEP
            box(axes, (x, bottom), (WIDTH, TALL), color)
            say(axes, x + WIDTH / 2, bottom + 1.32, name, 14, fontweight="bold")
            say(axes, x + WIDTH / 2, bottom + 0.78, what, 10.8)
            say(axes, x + WIDTH / 2, bottom + 0.24, where, 9.8, family="monospace", color=SOFT)
            if place:
                ends = (x - STEP + WIDTH, bottom + TALL / 2), (x, bottom + TALL / 2)
                arrow(axes, *(ends if row == 0 else ends[::-1]))
    turn = LEFT + 3 * STEP + WIDTH / 2
    arrow(axes, (turn, BOTTOMS[0]), (turn, BOTTOMS[1] + TALL))


def packages(axes: Axes) -> None:
    """Which part of the library makes what, above the first row and below the second."""
    for row, first, last, name in PACKAGES:
        side = 1 if row == 0 else -1
        y = BOTTOMS[row] + (TALL if row == 0 else 0) + side * 0.17
        left, right = LEFT + first * STEP, LEFT + last * STEP + WIDTH
        axes.plot([left, left, right, right], [y - side * 0.07, y, y, y - side * 0.07], color=LINE, linewidth=1.2)
        say(axes, (left + right) / 2, y + side * 0.2, name, 10.8, family="monospace")


def layers(axes: Axes) -> None:
    """Who is around the flow."""
    for place, (title, who, what, color) in enumerate(LAYERS):
        y = 1.86 - 0.78 * place
        box(axes, (0.3, y), (12.4, 0.66), color, linewidth=0)
        say(axes, 0.6, y + 0.33, title, 12, fontweight="bold", ha="left")
        say(axes, 3.15, y + 0.33, who, 10.8, family="monospace", ha="left")
        say(axes, 5.9, y + 0.33, what, 10.8, ha="left")


def draw(file: Path) -> None:
    """Draw the picture."""
    plt.rcdefaults()
    figure, axes = plt.subplots(figsize=SIZE)
    axes.set(xlim=(0, EXTENT[0]), ylim=(0, EXTENT[1]))
    axes.axis("off")
    box(axes, (0.3, 2.74), (12.4, 6.6), "#f8fafc", edgecolor="#cbd5df", zorder=0)
    say(axes, 0.6, 8.93, "what is computed", 12, fontweight="bold", ha="left")
    say(axes, 3.15, 8.93, "workflow/cutlayer", 10.8, family="monospace", ha="left")
    say(axes, 5.9, 8.93, "the library; it knows nothing of what is below this box", 10.8, ha="left")
    flow(axes)
    packages(axes)
    between = LEFT + 2.5 * STEP + WIDTH / 2
    axes.plot([between] * 2, [BOTTOMS[0] - 0.12, BOTTOMS[0] + TALL / 2 - 0.13], ":", color=WARN, linewidth=1.4)
    say(axes, between - 0.35, BOTTOMS[0] - 0.34, "a transcript, no truth", 10.8, color=WARN)
    layers(axes)
    figure.subplots_adjust(0, 0, 1, 1)
    figure.savefig(file, dpi=DPI, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".png"))
