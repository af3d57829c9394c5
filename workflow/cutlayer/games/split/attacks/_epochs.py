"""Gradients of tracked records, of `all` epochs, of the `first` one alone, or the `last` of each record."""

from __future__ import annotations

import numpy as np

from cutlayer.core.transcript import View


def lacks_epochs(view: View, epochs: str) -> str:
    """Why an attack on these epochs does not apply; empty if it does."""
    if "watched_gradients" not in view:
        return "for setups that follow rows through the training, here none is"
    count = len(view.watched_gradients)
    return "" if count > 1 or epochs != "all" else f"for rows that come back, here there is {count} epoch"


def tracked(view: View, epochs: str) -> tuple[np.ndarray, np.ndarray]:
    """The gradients and batch numbers of tracked records, of all epochs or of one, in which each occurs once.

    A batch number is -1 where a record is in no batch; `last` is each record's last epoch in which it is in one.
    """
    if epochs == "last":
        steps, rows = view.watched_steps, np.arange(view.watched_steps.shape[1])
        last = len(steps) - 1 - (steps[::-1] >= 0).argmax(axis=0)
        return view.watched_gradients[last, rows][None], steps[last, rows][None]
    count = 1 if epochs == "first" else None
    return view.watched_gradients[:count], view.watched_steps[:count]
