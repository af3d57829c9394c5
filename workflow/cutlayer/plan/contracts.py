"""What a method's class must be: one class that extends its contract, a dataclass, with hooks that the contract has.

All is read from source when the DAG is built: a misspelt hook would do nothing for an hour, without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cutlayer.core.errors import InputError, nearest

from .classes import ROOT, Source, classes, lineage

ROOTS = {  # kind -> where the class is that all its methods extend
    "dataset": "data/datasets/base.py",
    "model": "games/base/model.py",
    "protocol": "games/base/protocol.py",
    "defense": "games/base/defense.py",
    "attack": "games/base/attack.py",
    "exhibit": "exhibits/base.py",
}
PLAIN = {"dataset", "protocol"}  # kinds without parameters
OF_GAMES = {"model", "defense", "attack"}


def contracted(kind: str, name: str, path: Path) -> list[Source]:
    """The one class of a file that extends the contract of its kind, with all that it extends, itself last.

    Raises:
        InputError: there is none or more than one, or its contract refuses it.

    """
    root, word = ROOT / ROOTS[kind], kind.capitalize()
    lines = [lineage(path, node) for node in classes(path)]
    found = [line for line in lines if any(s.path == root and s.node.name == word for s in line[:-1])]
    if not found:
        raise InputError(f"{kind}.{name}", f"{path.name} has no class that extends {word}", _meant(kind))
    if len(found) > 1:
        raise InputError(f"{kind}.{name}", f"{path.name} has {len(found)} subclasses of {word}", "one is meant")
    _refuse(kind, name, found[0])
    return found[0]


def _meant(kind: str) -> str:
    if kind in OF_GAMES:
        return f"from cutlayer.games.<game>.{kind} import {kind.capitalize()}"
    return "import it from " + ROOTS[kind].removesuffix(".py").replace("/", ".")


def _refuse(kind: str, name: str, line: Sequence[Source]) -> None:
    """Raise for mistakes that Python would let pass."""
    own, where = line[-1], f"{kind}.{name}"
    hooks = set().union(*(s.functions for s in line[:-1]))
    if kind not in PLAIN and not own.is_dataclass:
        raise InputError(where, f"{own.node.name} is no dataclass", "put @dataclass(frozen=True) above it")
    for field in sorted((set(own.fields) | set(own.constants)) & hooks):
        raise InputError(where, f"the parameter {field!r} hides the hook of that name", "give it another name")
    if kind in OF_GAMES:
        if not any(s.constants.get("games") for s in line):
            raise InputError(where, f"{own.node.name} extends no game's contract", _meant(kind))
        for function in sorted(own.functions - hooks):
            wrong = f"{function!r} overrides no hook of its game"
            raise InputError(where, wrong, f"{nearest(function, hooks)} (a helper's name begins with an underscore)")
