"""Gradients of tracked records, of `all` epochs or of the `first` one alone."""

from __future__ import annotations

import numpy as np

from cutlayer.core.transcript import View


def lacks_epochs(view: View, epochs: str) -> str:
    """Why an attack on these epochs does not apply; empty if it does."""
    if "watched_gradients" not in view:
        return "for setups that follow rows through the training, here none is"
    count = len(view.watched_gradients)
    return "" if count > 1 or epochs == "first" else f"for rows that come back, here there is {count} epoch"


def tracked(view: View, epochs: str) -> tuple[np.ndarray, np.ndarray]:
    """The gradients and batch numbers of tracked records, of all epochs or of the first, in which each occurs once."""
    count = 1 if epochs == "first" else None
    return view.watched_gradients[:count], view.watched_steps[:count]
