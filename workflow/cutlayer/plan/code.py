"""Code dependencies of jobs, read from import statements, and checksums that detect changes."""

from __future__ import annotations

import ast
import functools
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from .classes import ROOT, parsed, place_of
from .plugins import method

if TYPE_CHECKING:
    from .plan import Plan

DIGITS = 12  # of a checksum that is shown
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)

digested: dict[str, str] = {}  # file -> checksum, of all code that was in a digest


def closure(*files: str | Path) -> tuple[str, ...]:
    """The given files of the library and every library file they import, sorted."""
    todo, seen = [str(file) for file in files], set[str]()
    while todo:
        file = todo.pop()
        if file not in seen:
            seen.add(file)
            todo += _imports(file)
    return tuple(sorted(seen))


@functools.cache
def digest(code: tuple[str, ...], read: tuple[str, ...] = ()) -> str:
    """Checksums of a job's files, for a reader to see what changed: of each file of code, of its imports, of `read`."""
    digested.update((file, checksum(file)) for file in {*code, *_closure(code)})
    own = [f"{Path(file).name} {checksum(file)[:DIGITS]}" for file in code]
    imported = [f"{os.path.relpath(file, ROOT)} {checksum(file)}" for file in _closure(code) if file not in code]
    rest = {"imports": imported, "files": [_sha256(file) for file in read]}
    return ", ".join([*own, *(f"{name} {_together(sums)}" for name, sums in rest.items() if sums)])


def of_numbers(plan: Plan, paper: str) -> str:
    """A checksum of the code of all methods that make a paper's numbers, and of what these import."""
    files = set[Path]()
    for exhibit in plan.papers[paper]["exhibits"].values():
        for name, defense in plan.runs(exhibit):
            setup = plan.setups[name]
            game = setup["protocol"]
            files |= {method("protocol", game).path, method("model", setup["model"]["use"], game).path}
            files |= {method("dataset", setup["dataset"]).path}
            files |= {method("defense", plan.defenses[defense]["use"], game).path}
            files |= {method("attack", plan.attacks[attack]["use"], game).path for attack in exhibit["attacks"]}
    return _together(sorted(map(checksum, closure(*files))))


def _together(checksums: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(checksums).encode()).hexdigest()[:DIGITS]


@functools.cache
def _closure(files: tuple[str, ...]) -> tuple[str, ...]:
    return closure(*files)


@functools.cache
def checksum(file: str | Path) -> str:
    """Checksum of what Python would run of a file: neither comments nor docstrings nor where lines end."""
    if Path(file).suffix != ".py":
        return _sha256(file)
    tree = ast.parse(Path(file).read_bytes())
    for node in (tree, *_statements(tree)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


@functools.cache
def _sha256(file: str | Path) -> str:
    with Path(file).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


@functools.cache
def uses_torch(files: tuple[str, ...]) -> bool:
    """Whether these files or any that they import import torch, early or late; imports for annotations do not count."""
    return any(_imports_torch(file) for file in _closure(files))


@functools.cache
def _imports_torch(file: str) -> bool:
    tree = parsed(Path(file))
    guards = [n for n in tree.body if isinstance(n, ast.If) and getattr(n.test, "id", "") == "TYPE_CHECKING"]
    unused = {node for guard in guards for node in _statements(guard)}
    found: set[str] = set()
    for node in _statements(tree):
        if isinstance(node, ast.Import) and node not in unused:
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node not in unused and not node.level:
            found.add((node.module or "").split(".")[0])
    return "torch" in found


@functools.cache
def _imports(file: str) -> tuple[str, ...]:
    """The library's files that `file` imports, anywhere in it."""
    found: list[str] = []
    for node in _statements(parsed(Path(file))):
        if isinstance(node, ast.ImportFrom) and (place := place_of(Path(file), node)):
            found += [f"{place}/{alias.name}" for alias in node.names] + [str(place)]
    return tuple(name for stem in found for name in (f"{stem}.py", f"{stem}/__init__.py") if _is_code(name))


@functools.cache
def _is_code(file: str) -> bool:
    return os.path.isfile(file) and os.path.getsize(file) > 0


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements, at any depth; expressions, most of a tree, hold no import."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):
        for node in getattr(tree, part, ()):
            yield node
            yield from _statements(node)
