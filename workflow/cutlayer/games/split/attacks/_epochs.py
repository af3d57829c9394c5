"""Rows that are followed through `all` epochs, or through the `first` one alone."""

from __future__ import annotations

import numpy as np

from cutlayer.core.transcript import View


def lacks_epochs(view: View, epochs: str) -> str:
    """Why there is nothing to be read off these epochs."""
    if "watched_gradients" not in view:
        return "for setups that follow rows through the training, here none is"
    count = len(view.watched_gradients)
    return "" if count > 1 or epochs == "first" else f"for rows that come back, here there is {count} epoch"


def followed(view: View, epochs: str) -> tuple[np.ndarray, np.ndarray]:
    """`watched_gradients` and `watched_steps` of all epochs or of the first, in which each row is sent once."""
    count = 1 if epochs == "first" else None
    return view.watched_gradients[:count], view.watched_steps[:count]
