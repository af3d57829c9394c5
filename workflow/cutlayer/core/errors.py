"""The one error type for bad input, in the form `kind.name: what is wrong; what was meant or allowed`."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

CLOSE = 0.6  # how alike two names are of which one may be meant, see difflib
MOST = 10  # names that an error lists


class InputError(ValueError):
    """Bad input: a file, a name, a parameter or an array that cannot be used as given."""

    def __init__(self, where: str, wrong: str, allowed: str = "") -> None:
        super().__init__(f"{where}: {wrong}" + (f"; {allowed}" if allowed else ""))
        self.wrong = wrong


def nearest(name: str, known: Iterable[str]) -> str:
    """Return "did you mean 'x'?" with the closest known name, the first of several; if none is close, all of them."""
    names = sorted(known)
    close = {one: difflib.SequenceMatcher(None, one, str(name)).ratio() for one in names}
    best = max(names, key=close.__getitem__, default="")
    return f"did you mean {best!r}?" if close.get(best, 0) >= CLOSE else f"known: {few(names)}"


def few(names: Iterable[object], between: str = ", ") -> str:
    """The names in one line; of many the first ones, and how many more there are."""
    texts = [str(name) for name in names]
    more = len(texts) - MOST
    return between.join(texts[:MOST]) + (f" and {more:,} more" if more > 0 else "")
