"""Which files of the library a job runs, read from their imports without importing anything."""

from __future__ import annotations

import ast
import functools
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from .classes import ROOT, parsed, place_of
from .plugins import method


@functools.cache
def source(kind: str, name: str, game: str = "") -> tuple[str, ...]:
    """The files of the library a method is made of: its own and, transitively, those it imports."""
    return closure(method(kind, name, game).path)


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
def digest(files: tuple[str, ...]) -> str:
    """Checksum of the library's files that these files import, with their names; these files are not among them."""
    imported = hashlib.sha256()
    for file in _closure(files):
        if file not in files:
            imported.update(_checksum(file))
    return imported.hexdigest()[:16]


@functools.cache
def _closure(files: tuple[str, ...]) -> tuple[str, ...]:
    return closure(*files)


@functools.cache
def _checksum(file: str) -> bytes:
    """A line with the file's name, as the library calls it, and its checksum."""
    return f"{os.path.relpath(file, ROOT)} {hashlib.sha256(Path(file).read_bytes()).hexdigest()}\n".encode()


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
