"""The error type for bad input, in the form `kind.name: what is wrong; what was expected`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

CLOSE = 0.6  # similarity of a name to one that is suggested, see difflib
MOST = 10  # names that an error lists


class InputError(ValueError):
    """Bad input: a file, a name, a parameter or an array that cannot be used as given."""

    def __init__(self, where: str, wrong: str, allowed: str = "") -> None:
        super().__init__(f"{where}: {wrong}" + (f"; {allowed}" if allowed else ""))
        self.wrong = wrong


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint "did you mean 'x'?" with the closest known name; if none is close, the known names."""
    names = sorted(known)
    close = {one: difflib.SequenceMatcher(None, one, str(name)).ratio() for one in names}
    best = max(names, key=close.__getitem__, default="")
    return f"did you mean {best!r}?" if close.get(best, 0) >= CLOSE else f"known: {few(names)}"


def few(names: Iterable[object], between: str = ", ") -> str:
    """The names in one line; of many the first ones, and the number of the others."""
    texts = [str(name) for name in names]
    more = len(texts) - MOST
    return between.join(texts[:MOST]) + (f" and {more:,} more" if more > 0 else "")
