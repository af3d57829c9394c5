"""What tests ask of a drawn figure."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text


def visible(figure: Figure) -> list[Axes]:
    """The panels that are shown."""
    return [axis for axis in figure.axes if axis.get_visible()]


def curves(axis: Axes) -> list[Line2D]:
    """A panel's lines without the dots of single seeds and the paper's points."""
    return [line for line in axis.lines if line.get_label() not in ("_seeds", "_printed")]


def labeled(axis: Axes, label: str) -> list[Line2D]:
    """A panel's `_seeds` or its points that are `_printed`."""
    return [line for line in axis.lines if line.get_label() == label]


def texts(figure: Figure) -> list[Text]:
    """All that is written in a figure."""
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]


def written(figure: Figure) -> str:
    """All text of a figure that is no axis's, without line breaks."""
    return " ".join(" ".join(text.get_text() for text in figure.texts).split())
