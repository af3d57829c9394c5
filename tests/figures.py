"""What tests ask of a drawn figure."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure


def visible(figure: Figure) -> list[Axes]:
    """The panels that are shown."""
    return [axis for axis in figure.axes if axis.get_visible()]
