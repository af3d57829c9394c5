"""Whether rows are followed through several epochs."""

from __future__ import annotations

from cutlayer.core.transcript import View


def lacks_epochs(view: View) -> str:
    """Why there is nothing to be read off several epochs."""
    if "watched_gradients" not in view:
        return "for setups that follow rows through the training, here none is"
    epochs = len(view.watched_gradients)
    return "" if epochs > 1 else f"for rows that come back, here there is {epochs} epoch"
