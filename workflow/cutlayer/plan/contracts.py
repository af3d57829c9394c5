"""Contracts of methods, checked in the source: one dataclass that extends the contract, with its hooks only.

All is read from source when the DAG is built: a misspelt hook would be ignored without an error.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path

from cutlayer.core.errors import InputError, nearest

from .classes import ROOT, Source, classes, lineage, parsed, place_of

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
FREE = {"strength"}  # what a contract says of a method and a parameter may be called all the same
OUTSIDE = ("defense", "attack", "dataset")  # kinds of which a file may lie outside the library


def contracted(kind: str, name: str, path: Path) -> list[Source]:
    """The one class of a file that extends the contract of its kind, after all its bases.

    Raises:
        InputError: there is none or more than one, or its contract refuses it.

    """
    word, found = kind.capitalize(), _extending(kind, path)
    if not found:
        raise InputError(f"{kind}.{name}", f"{path.name} has no class that extends {word}", _base(kind))
    if len(found) > 1:
        wrong = f"{path.name} has {len(found)} subclasses of {word}"
        raise InputError(f"{kind}.{name}", wrong, "expected one" + at(path, found[1][-1].node.lineno))
    _refuse(kind, name, found[0])
    return found[0]


def kind_of(path: Path) -> str:
    """Kind of the method in a file outside the library, by the contract that it extends.

    Raises:
        InputError: it is no Python, imports what is not available, or extends no contract or several.

    """
    try:
        tree = parsed(path)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"methods.{path.stem}", f"is no Python: {error}", str(path)) from None
    for line, wrong, allowed in _unimportable(path, tree):
        raise InputError(f"methods.{path.stem}", wrong, allowed + at(path, line))
    kinds = [kind for kind in OUTSIDE if _extending(kind, path)]
    if len(kinds) == 1:
        return kinds[0]
    wrong = f"is both {' and '.join(kinds)}" if kinds else "has no class that extends Defense, Attack or Dataset"
    allowed = "expected a file for each" if kinds else " or ".join(_base(kind) for kind in OUTSIDE)
    raise InputError(f"methods.{path.stem}", wrong, f"{allowed} ({path})")


def at(path: Path, line: int) -> str:
    """Place in a file outside the library, as the end of an error; empty for the library's own files."""
    return "" if path.is_relative_to(ROOT) else f" ({path}, line {line})"


def _extending(kind: str, path: Path) -> list[list[Source]]:
    """Classes of a file that extend the contract of a kind, each after its bases."""
    root, word = ROOT / ROOTS[kind], kind.capitalize()
    lines = [lineage(path, node) for node in classes(path)]
    return [line for line in lines if any(s.path == root and s.node.name == word for s in line[:-1])]


def _unimportable(path: Path, tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Each import that will fail: line, what is wrong, what is expected."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _not_installed(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom) and node.level:
            wrong = f"imports {'.' * node.level}{node.module or ''}, relative to its own folder"
            yield node.lineno, wrong, "expected `from cutlayer... import ...` from outside the library"
        elif isinstance(node, ast.ImportFrom):
            place = place_of(path, node)
            if place and not (place.is_dir() or place.with_suffix(".py").is_file()):
                yield node.lineno, f"there is no {node.module}", "expected a module of the library"
            yield from _not_installed(node.module or "", node.lineno)


def _not_installed(module: str, line: int) -> Iterator[tuple[int, str, str]]:
    if importlib.util.find_spec(module.partition(".")[0]) is None:
        yield line, f"imports {module}, which is not installed", "a method is one file"


def _base(kind: str) -> str:
    if kind in OF_GAMES:
        return f"from cutlayer.games.<game>.{kind} import {kind.capitalize()}"
    return "import it from " + ROOTS[kind].removesuffix(".py").replace("/", ".")


def _refuse(kind: str, name: str, line: Sequence[Source]) -> None:
    """Raise InputError for mistakes that Python would not report."""
    own, where = line[-1], f"{kind}.{name}"
    hooks = set().union(*(s.functions for s in line[:-1]))
    if kind == "dataset":
        _check_counts(where, line)
    if kind not in PLAIN and not own.is_dataclass:
        expected = "put @dataclass(frozen=True) above it" + at(own.path, own.node.lineno)
        raise InputError(where, f"{own.node.name} is no dataclass", expected)
    for field in sorted((set(own.fields) | set(own.constants)) & hooks):
        expected = "give it another name" + at(own.path, own.line(field))
        raise InputError(where, f"the parameter {field!r} hides the hook of that name", expected)
    for field in sorted(set(own.fields) & set().union(*(s.constants for s in line[:-1])) - FREE):
        expected = "give it another name" + at(own.path, own.line(field))
        raise InputError(where, f"the parameter {field!r} hides what its contract says of it", expected)
    if kind in OF_GAMES:
        if not any(s.constants.get("games") for s in line):
            expected = _base(kind) + at(own.path, own.node.lineno)
            raise InputError(where, f"{own.node.name} extends no game's contract", expected)
        for function in sorted(own.functions - hooks):
            wrong = f"{function!r} overrides no hook of its game"
            expected = f"{nearest(function, hooks)} (a helper's name begins with an underscore)"
            raise InputError(where, wrong, expected + at(own.path, own.line(function)))


def _check_counts(where: str, line: Sequence[Source]) -> None:
    """Raise InputError unless a dataset declares its numbers of columns and classes, which the plan needs."""
    for name, least in (("columns", 1), ("classes", 2)):
        given = next((s.constants[name] for s in reversed(line) if name in s.constants), None)
        if not isinstance(given, int) or given < least:
            wrong = f"has {name} = {given}" if given is not None else f"has no number of {name}"
            expected = f"expected a literal of {least} or more" + at(line[-1].path, line[-1].line(name))
            raise InputError(where, wrong, expected)
