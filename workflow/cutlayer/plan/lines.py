"""Parsers of the lines `says` (a sentence with its place) and `shows` (the grid of an exhibit) in a paper.yaml.

    says: The norm of the communicated gradients can largely reveal the labels. (Abstract, section 3.2)
    shows: leak_auc, floor of norm under none, marvell on criteo, avazu along step from scores

are a text and its place, and metrics of attacks under defenses on setups, along an axis, from sources. The lines of
checks are in `check_lines`; docs/paper_yaml.md has the grammar of all.
"""

from __future__ import annotations

import re
from typing import Any

from cutlayer.core.errors import InputError, nearest

SHOWN = {"": "metrics", "of": "attacks", "under": "defenses", "on": "setups", "along": "along", "from": "sources"}
ALONE = {"along"}  # one name, no list
ALL = "all"  # variants that apply, or data
OURS, ANY = "ours", "of any data"  # whose data a claim is about


def statement(sentence: str, where: str) -> tuple[str, str]:
    """Text and place of a sentence: the place is in parentheses at its end, and may contain parentheses."""
    depth, place = 0, len(sentence)
    while place and (depth or place == len(sentence)):
        place -= 1
        depth += {")": 1, "(": -1}.get(sentence[place], 0)
    text, end = sentence[:place].rstrip(), sentence[place + 1 : -1]
    if not (sentence.endswith(")") and text and end and not depth):
        raise InputError(
            where, f"{sentence[-30:]!r} does not end in parentheses", "expected `The sentence. (Section 1)`"
        )
    return text, end


def placed(sentence: str, where: str) -> dict[str, Any]:
    """Text and place of a claim, and its datasets if they are not the paper's."""
    text, end = statement(sentence, where)
    if end == OURS:
        return {"text": text, "place": OURS.capitalize(), "datasets": []}
    place, apart, data = end.rpartition("; ")
    if apart and (data == OURS or data.startswith("of ")):
        own = [] if data == OURS else ALL if data == ANY else re.split(r",\s*", data.removeprefix("of "))
        return {"text": text, "place": place, "datasets": own}
    return {"text": text, "place": end}


def grid_of(line: str, where: str) -> dict[str, Any]:
    """Parts of an exhibit's grid: metrics, attacks, defenses, setups, axis and sources."""
    words = "|".join(filter(None, SHOWN))
    first, *others = re.split(rf"(?:^|\s+)({words})\s+", line.strip())
    named = ([("", first)] if first else []) + list(zip(others[::2], others[1::2], strict=True))
    grid: dict[str, Any] = {}
    for word, given in named:
        names = re.split(r",\s*", given)
        for name in names:
            _check_name(name, where)
        if SHOWN[word] in grid:
            raise InputError(where, f"has {word!r} twice", "expected each once")
        alone = SHOWN[word] in ALONE or (names == [ALL] and SHOWN[word] in ("attacks", "defenses"))
        grid[SHOWN[word]] = given if alone else names
    return grid


def _check_name(name: str, where: str) -> None:
    if not re.fullmatch(r"[\w.{}]+", name):
        odd = name.split()[1:2] or [name]
        expected = nearest(odd[0], filter(None, SHOWN)).replace("known", "between names")
        raise InputError(where, f"{name!r} is no name", expected)
