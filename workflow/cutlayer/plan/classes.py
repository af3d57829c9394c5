"""Classes of the library with their bases, read from source without imports."""

from __future__ import annotations

import ast
import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]  # of the library


@dataclass(frozen=True)
class Source:
    """A class statement and its file."""

    path: Path
    node: ast.ClassDef

    @functools.cached_property
    def fields(self) -> dict[str, str]:
        """Annotations of a dataclass's fields, without ClassVars."""
        return {n.target.id: ast.unparse(n.annotation) for n in self._declared if isinstance(n.target, ast.Name)}

    @functools.cached_property
    def required(self) -> set[str]:
        """Names of the fields without a default."""
        return {n.target.id for n in self._declared if n.value is None and isinstance(n.target, ast.Name)}

    @property
    def _declared(self) -> list[ast.AnnAssign]:
        return [n for n in self.node.body if isinstance(n, ast.AnnAssign) and not _is_class_variable(n)]

    @functools.cached_property
    def constants(self) -> dict[str, Any]:
        """The class attributes that are literals: plain assignments and ClassVars."""
        found: dict[str, Any] = {}
        for target, value in _assignments(self.node):
            with contextlib.suppress(ValueError):
                found[target] = ast.literal_eval(value)
        return found

    @functools.cached_property
    def functions(self) -> set[str]:
        """Names of the public methods and properties."""
        return {n.name for n in self.node.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")}

    def line(self, name: str) -> int:
        """Line number of a field, constant or method; that of the class if it has no such member."""
        for n in self.node.body:
            target = n.targets[0] if isinstance(n, ast.Assign) else getattr(n, "target", n)
            if name in (getattr(target, "id", None), getattr(target, "name", None)):
                return n.lineno
        return self.node.lineno

    @property
    def is_dataclass(self) -> bool:
        """True if the class is decorated as a dataclass."""
        return any("dataclass" in ast.unparse(decorator) for decorator in self.node.decorator_list)


def classes(path: Path) -> list[ast.ClassDef]:
    """Classes that a file defines."""
    return [n for n in parsed(path).body if isinstance(n, ast.ClassDef)]


def lineage(path: Path, node: ast.ClassDef) -> list[Source]:
    """A class after all its bases that the library defines."""
    above = [parent for base in node.bases for parent in _parents(path, base)]
    return [*above, _source(path, node)]


@functools.cache
def _source(path: Path, node: ast.ClassDef) -> Source:
    return Source(path, node)


def _parents(path: Path, base: ast.expr) -> list[Source]:
    found = _resolved(path, base)
    return lineage(*found) if found else []


def _resolved(path: Path, base: ast.expr) -> tuple[Path, ast.ClassDef] | None:
    """The class to which the expression of a base refers in this file, if the library defines it."""
    if isinstance(base, ast.Name):
        own = next((c for c in classes(path) if c.name == base.id), None)
        file, name = (path, base.id) if own else _imported(path, base.id)
    elif isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
        file, name = _imported(path, base.value.id)[0], base.attr
    else:
        return None
    node = next((c for c in classes(file) if c.name == name), None) if file else None
    return (file, node) if file and node else None


@functools.cache
def _imported(path: Path, name: str) -> tuple[Path | None, str]:
    """Library file from which a local name is imported, and its name there; "" for a module."""
    for node in reversed(parsed(path).body):
        if not isinstance(node, ast.ImportFrom) or not (place := place_of(path, node)):
            continue
        for alias in node.names:
            if name == (alias.asname or alias.name):
                module, package = (place / alias.name).with_suffix(".py"), place.with_suffix(".py")
                return (module, "") if module.is_file() else (package if package.is_file() else None, alias.name)
    return None, ""


def place_of(path: Path, node: ast.ImportFrom) -> Path | None:
    """Path without suffix of an imported module; None outside the library."""
    parts = (node.module or "").split(".")
    if node.level:
        return path.parents[node.level - 1].joinpath(*parts)
    return ROOT.joinpath(*parts[1:]) if parts[0] == ROOT.name else None


@functools.cache
def parsed(path: Path) -> ast.Module:
    """Syntax tree of a file, cached."""
    return ast.parse(path.read_bytes(), str(path))  # of bytes: a mark or a line may say how they are encoded


def _assignments(cls: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for node in cls.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and _is_class_variable(node) and isinstance(node.target, ast.Name):
            yield from [(node.target.id, node.value)] if node.value is not None else []


def _is_class_variable(node: ast.AnnAssign) -> bool:
    annotation = node.annotation.value if isinstance(node.annotation, ast.Subscript) else node.annotation
    return getattr(annotation, "id", "") == "ClassVar"
