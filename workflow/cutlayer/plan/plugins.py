"""Methods found on disk: one file each, its name is the method's name, nothing is registered.

What a method accepts is read from its source without importing it, so that the Snakefile can check
params.yaml in milliseconds and never loads torch; `create` imports and builds it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutlayer.core.errors import InputError, nearest

from .classes import ROOT
from .contracts import ROOTS, contracted

PLACES = {  # kind -> where its methods are
    "dataset": "data/datasets/*.py",
    "model": "games/*/models/*.py",
    "protocol": "games/*/protocol.py",
    "defense": "games/*/defenses/*.py",
    "attack": "games/*/attacks/*.py",
    "exhibit": "exhibits/*.py",
}
KINDS = tuple(ROOTS)
TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}


@dataclass(frozen=True)
class Method:
    """What a plugin's file says of itself: the class, its parameters and its declared constants."""

    kind: str
    name: str
    path: Path
    class_name: str
    parameters: Mapping[str, str]  # name -> annotation as written
    required: frozenset[str]  # parameters without a default
    constants: Mapping[str, Any]  # literal class attributes such as `sees` or `needs`, its own and its contract's


def names(kind: str, game: str = "") -> list[str]:
    """The methods of a kind, sorted, of all games or of one; files starting with an underscore are helpers."""
    return sorted(name for name in _files(kind) if not game or game in games(kind, name))


def games(kind: str, name: str) -> set[str]:
    """The games that a method is for; "none" has a file in each."""
    return {game for path in _found(kind, name) for game in _read(kind, name, path).constants["games"]}


@functools.cache
def _files(kind: str) -> dict[str, list[Path]]:
    """Name -> the files of that name."""
    found: dict[str, list[Path]] = {}
    for file in sorted(ROOT.glob(PLACES[kind])):
        name = file.parent.name if kind == "protocol" else file.stem
        if not name.startswith("_") and (name != "base"):
            found.setdefault(name, []).append(file)
    return found


def _found(kind: str, name: str) -> list[Path]:
    if name not in _files(kind):
        raise InputError(f"{kind}.{name}", f"there is no such {kind}", nearest(name, names(kind)))
    return _files(kind)[name]


def method(kind: str, name: str, game: str = "") -> Method:
    """Read a method's file, the one of a game if several have one of that name; an unknown name is an error."""
    paths = _found(kind, name)
    return _read(kind, name, next((path for path in paths if path.parts[-3] == game), paths[0]))


@functools.cache
def _read(kind: str, name: str, path: Path) -> Method:
    line = contracted(kind, name, path)
    parameters = {field: annotation for source in line for field, annotation in source.fields.items()}
    for parameter, annotation in parameters.items():
        if annotation not in TYPES and not annotation.startswith("Literal["):
            allowed = f"one of {', '.join(TYPES)} or a Literal is meant"
            raise InputError(f"{kind}.{name}", f"parameter {parameter!r} is a {annotation}", allowed)
    required: set[str] = set()
    for source in line:
        required = required - set(source.fields) | source.required
    constants = {key: value for source in line for key, value in source.constants.items()}
    return Method(kind, name, path, line[-1].node.name, parameters, frozenset(required), constants)


def create(kind: str, name: str, parameters: Mapping[str, Any] | None = None, game: str = "") -> Any:
    """Import a method and build it with checked parameters."""
    check_parameters(kind, name, parameters or {})
    check_given(kind, name, parameters or {})
    found = method(kind, name, game)
    module = importlib.import_module(".".join([ROOT.name, *found.path.relative_to(ROOT).with_suffix("").parts]))
    return getattr(module, found.class_name)(**(parameters or {}))


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


def check_given(kind: str, name: str, given: Mapping[str, Any]) -> None:
    """Raise unless every parameter without a default is given."""
    for parameter in sorted(method(kind, name).required - set(given)):
        raise InputError(f"{kind}.{name}", f"its parameter {parameter!r} is not given", "it has no default")


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
