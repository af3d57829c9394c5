"""Methods found on disk: one file each, its name is the method's name, nothing is registered.

What a method accepts is read from its source without importing it, so that the Snakefile can check
params.yaml in milliseconds and never loads torch; `create` imports and builds it.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from .errors import InputError, nearest

ROOT = Path(__file__).parent
KINDS = {
    "dataset": "datasets",
    "model": "models",
    "protocol": "protocols",
    "defense": "defenses",
    "attack": "attacks",
    "exhibit": "exhibits",
}
TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}


@dataclass(frozen=True)
class Method:
    """What a plugin's file says of itself: the class, its parameters and its declared constants."""

    kind: str
    name: str
    path: Path
    class_name: str
    parameters: Mapping[str, str]  # name -> annotation as written
    constants: Mapping[str, Any]  # literal class attributes such as `sees` or `needs`, its own and the base class's


def names(kind: str) -> list[str]:
    """The methods of a kind, sorted; `base.py` and files starting with an underscore are helpers."""
    files = (ROOT / KINDS[kind]).glob("*.py")
    return sorted(f.stem for f in files if f.stem != "base" and not f.stem.startswith("_"))


@functools.cache
def method(kind: str, name: str) -> Method:
    """Read a method's file; an unknown name is an error that offers the nearest one."""
    if name not in names(kind):
        raise InputError(f"{kind}.{name}", f"there is no such {kind}", nearest(name, names(kind)))
    path = ROOT / KINDS[kind] / f"{name}.py"
    tree = ast.parse(path.read_text(), str(path))
    extended = _extended(kind, tree)
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef)]
    own = [c for c in classes if any(_last_name(b) in {kind.capitalize(), *extended} for b in c.bases)]
    if len(own) != 1:
        raise InputError(
            f"{kind}.{name}", f"{path.name} has {len(own)} subclasses of {kind.capitalize()}", "one is meant"
        )
    parents = [extended[base] for base in map(_last_name, own[0].bases) if base in extended]
    parameters = {k: v for parent in parents for k, v in parent.parameters.items()} | _parameters(own[0])
    for parameter, annotation in parameters.items():
        if annotation not in TYPES and not annotation.startswith("Literal["):
            allowed = f"one of {', '.join(TYPES)} or a Literal is meant"
            raise InputError(f"{kind}.{name}", f"parameter {parameter!r} is a {annotation}", allowed)
    inherited = _declared(kind) | {k: v for parent in parents for k, v in parent.constants.items()}
    return Method(kind, name, path, own[0].name, parameters, inherited | _constants(own[0]))


def _extended(kind: str, tree: ast.Module) -> dict[str, Method]:
    """Classes of other methods of the kind that a file imports, so that its own may extend one of them."""
    modules = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.level == 1 and n.module in names(kind)]
    others = [method(kind, str(node.module)) for node in modules]
    return {other.class_name: other for other in others}


@functools.cache
def _declared(kind: str) -> dict[str, Any]:
    """The literals of the base class of a kind: what holds for a method that does not say otherwise."""
    path = ROOT / KINDS[kind] / "base.py"
    bases = [n for n in ast.parse(path.read_text(), str(path)).body if isinstance(n, ast.ClassDef)]
    return {k: v for base in bases if base.name == kind.capitalize() for k, v in _constants(base).items()}


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _parameters(cls: ast.ClassDef) -> dict[str, str]:
    """A dataclass's fields: the annotated names, ClassVars left out."""
    fields = [n for n in cls.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)]
    pairs = {n.target.id: ast.unparse(n.annotation) for n in fields if isinstance(n.target, ast.Name)}
    return {name: kind for name, kind in pairs.items() if not kind.startswith("ClassVar")}


def _constants(cls: ast.ClassDef) -> dict[str, Any]:
    """The class attributes that are literals: plain assignments and ClassVars."""
    found: dict[str, Any] = {}
    for target, value in _assignments(cls):
        with contextlib.suppress(ValueError):
            found[target] = ast.literal_eval(value)
    return found


def _assignments(cls: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for node in cls.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and _is_class_variable(node):
            yield node.target.id, cast(ast.expr, node.value)


def _is_class_variable(node: ast.AnnAssign) -> bool:
    return node.value is not None and ast.unparse(node.annotation).startswith("ClassVar")


def check_parameters(kind: str, name: str, given: Mapping[str, Any]) -> None:
    """Raise unless every given parameter exists and has a value of its declared type."""
    known = method(kind, name).parameters
    for parameter, value in given.items():
        if parameter not in known:
            raise InputError(
                f"{kind}.{name}",
                f"has no parameter {parameter!r}",
                nearest(parameter, known) if known else "it has none",
            )
        allowed = _allowed(known[parameter], value) or _beyond(method(kind, name).constants, parameter, value)
        if allowed:
            raise InputError(f"{kind}.{name}", f"{parameter} = {value!r}", allowed)


def _allowed(annotation: str, value: Any) -> str:
    """What a parameter may be, when `value` is not it; empty when it is."""
    if annotation.startswith("Literal["):
        choices = ast.literal_eval(annotation.removeprefix("Literal[").removesuffix("]") + ",")
        same = any(type(value) is type(choice) and value == choice for choice in choices)
        return "" if same else f"allowed: {', '.join(map(repr, choices))}"
    types = TYPES[annotation]
    return (
        "" if isinstance(value, types) and (bool in types or not isinstance(value, bool)) else f"{annotation} is meant"
    )


def _beyond(constants: Mapping[str, Any], parameter: str, value: Any) -> str:
    """The declared limits of a number, when `value` is beyond them or not finite; empty when it is not."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    least, most = constants.get("limits", {}).get(parameter, (None, None))
    within = (least is None or value >= least) and (most is None or value <= most)
    if math.isfinite(value) and within:
        return ""
    bounds = [f"at least {least:g}" if least is not None else "", f"at most {most:g}" if most is not None else ""]
    return " and ".join(filter(None, bounds)) or "a finite number is meant"


def strength(defense: str) -> tuple[str, float, float]:
    """The parameter by which a defense trades utility for privacy, its least and its greatest value.

    Raises:
        InputError: it names none, or not a number that it takes.

    """
    found, where = method("defense", defense), f"defense.{defense}"
    parameter, ends = found.constants.get("strength", ""), found.constants.get("strengths", ())
    if not parameter:
        raise InputError(where, "names no `strength`", "a defense is matched by the parameter that it names")
    if found.parameters.get(parameter) != "float":
        raise InputError(where, f"its strength {parameter!r} is no parameter of the type float", "one is meant")
    if len(ends) != 2 or not 0 <= ends[0] < ends[1]:
        raise InputError(where, f"its strengths are {ends}", "(least, greatest) is meant")
    for value in ends:
        check_parameters("defense", defense, {parameter: value})
    return parameter, float(ends[0]), float(ends[1])


def create(kind: str, name: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """Import a method and build it with checked parameters."""
    check_parameters(kind, name, parameters or {})
    found = method(kind, name)
    module = importlib.import_module(f"cutlayer.{KINDS[kind]}.{name}")
    return getattr(module, found.class_name)(**(parameters or {}))


@functools.cache
def source(kind: str, name: str) -> tuple[str, ...]:
    """The files of the library a method is made of: its own and, transitively, those it imports."""
    return closure(method(kind, name).path)


def closure(*files: Path) -> tuple[str, ...]:
    """The given files of the library and every library file they import, sorted."""
    todo, seen = list(files), set[Path]()
    while todo:
        file = todo.pop()
        if file not in seen:
            seen.add(file)
            todo += _imports(file)
    return tuple(sorted(str(file) for file in seen))


@functools.cache
def digest(files: tuple[str, ...]) -> str:
    """Checksum of the library's files that these files import, with their names; these files are not among them."""
    imported = hashlib.sha256()
    for file in _closure(files):
        if file not in files:
            imported.update(f"{os.path.relpath(file, ROOT)} {_checksum(file)}\n".encode())
    return imported.hexdigest()[:16]


@functools.cache
def _closure(files: tuple[str, ...]) -> tuple[str, ...]:
    return closure(*map(Path, files))


@functools.cache
def _checksum(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


@functools.cache
def uses_torch(files: tuple[str, ...]) -> bool:
    """Whether these files or any that they import import torch, early or late; imports for annotations do not count."""
    return any(_imports_torch(file) for file in _closure(files))


@functools.cache
def _imports_torch(file: str) -> bool:
    tree = ast.parse(Path(file).read_text(), file)
    guards = [n for n in ast.walk(tree) if isinstance(n, ast.If) and _last_name(n.test) == "TYPE_CHECKING"]
    unused = {node for guard in guards for statement in guard.body for node in ast.walk(statement)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and node not in unused:
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node not in unused and not node.level:
            found.add((node.module or "").split(".")[0])
    return "torch" in found


@functools.cache
def _imports(file: Path) -> tuple[Path, ...]:
    """The library's files that `file` imports, anywhere in it."""
    found: list[Path] = []
    for node in ast.walk(ast.parse(file.read_text(), str(file))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            found += [base / alias.name for alias in node.names] + [base]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cutlayer"):
            base = ROOT.joinpath(*(node.module or "").split(".")[1:])
            found += [base / alias.name for alias in node.names] + [base]
    files = [p.with_suffix(".py") for p in found] + [p / "__init__.py" for p in found]
    return tuple(f for f in files if f.is_file() and f.stat().st_size > 0)
