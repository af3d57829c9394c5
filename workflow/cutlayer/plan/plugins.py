"""Methods found on disk: one file each, whose name is the method's name; there is no registry.

Files of one's own may lie elsewhere, see `look_in`.

What a method accepts is read from its source without importing it, so that the Snakefile can check
params.yaml in milliseconds and never loads torch; `create` imports and builds it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import itertools
import re
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutlayer.core import limits, yamls
from cutlayer.core.errors import InputError, nearest

from .classes import ROOT
from .contracts import ROOTS, at, contracted, kind_of

PLACES = {  # kind -> where its methods are
    "dataset": "data/datasets/*.py",
    "model": "games/*/models/*.py",
    "protocol": "games/*/protocol.py",
    "defense": "games/*/defenses/*.py",
    "attack": "games/*/attacks/*.py",
    "exhibit": "exhibits/*.py",
}
KINDS = tuple(ROOTS)
EVERYWHERE = {"none", "send_nothing"}  # names that methods of several games have: variants name one without its game
METHOD = "[!._]*.py"  # neither a helper nor what an editor or a file system hides beside a method
NAME = re.compile("[a-z][a-z0-9_]*")  # of a file outside the library; it becomes part of paths
NUMBERS = ("int", "float")
TYPES: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "bool": (bool,), "str": (str,)}


@dataclass(frozen=True)
class Method:
    """A method as declared in its file: class, parameters and constants."""

    kind: str
    name: str
    path: Path
    class_name: str
    parameters: Mapping[str, str]  # name -> annotation as written
    required: frozenset[str]  # parameters without a default
    constants: Mapping[str, Any]  # literal class attributes such as `sees` or `needs`, its own and its contract's


_outside: dict[str, dict[str, Path]] = {}  # kind -> name -> file, as `look_in` found them


def look_in(place: str | Path) -> dict[str, dict[str, Path]]:
    """Add the methods of a file or folder outside the library, in place of any added before.

    Those of a folder may lie in folders of their own (`defenses/`, ...); their kind is that of the class they extend.
    An empty `place` has none. Returns kind -> name -> file.

    Raises:
        InputError: there is no such place, it has no method, or one that cannot be taken.

    """
    _outside.clear()
    _files.cache_clear()
    for file in _candidates(Path(place).expanduser()) if place else ():
        if not NAME.fullmatch(file.stem):
            raise InputError(f"methods.{file.stem}", "is no name", f"expected small letters, digits and _ ({file})")
        kind = kind_of(file)
        if file.stem in {*names(kind), *itertools.chain(*_outside.values())}:
            raise InputError(f"{kind}.{file.stem}", f"there is one of that name, beside {file}", "give yours another")
        _outside.setdefault(kind, {})[file.stem] = file
        _files.cache_clear()
        method(kind, file.stem)
    return {kind: dict(found) for kind, found in _outside.items()}


def _candidates(place: Path) -> list[Path]:
    """Files that may hold methods."""
    if not place.exists():
        raise InputError("methods", f"there is no {place}", "expected a file or a folder of methods")
    files = [place] if place.is_file() else sorted([*place.glob(METHOD), *place.glob(f"[!.]*/{METHOD}")])
    files = [file.resolve() for file in files]
    if not files:
        raise InputError("methods", f"{place} holds none", "expected a file mine.py for each")
    return files


def home(kind: str, name: str) -> Path | None:
    """Folder of a method outside the library; None for the library's own."""
    file = _outside.get(kind, {}).get(name)
    return file.parent if file else None


def names(kind: str, game: str = "") -> list[str]:
    """Names of the methods of a kind, sorted, in all games or in one; files starting with an underscore are helpers."""
    return sorted(name for name in _files(kind) if not game or game in games(kind, name))


def games(kind: str, name: str) -> set[str]:
    """Games of a method; a method of EVERYWHERE has a file in each."""
    return {game for path in _found(kind, name) for game in _read(kind, name, path).constants["games"]}


@functools.cache
def _files(kind: str) -> dict[str, list[Path]]:
    """Files of methods by name."""
    found: dict[str, list[Path]] = {}
    for file in sorted(ROOT.glob(PLACES[kind])):
        name = file.parent.name if kind == "protocol" else file.stem
        if name[0] not in "._" and name != "base":
            found.setdefault(name, []).append(file)
    for name, files in found.items():
        if len(files) > 1 and name not in EVERYWHERE:
            folders = " and ".join(file.relative_to(ROOT).parent.as_posix() for file in files)
            raise InputError(f"{kind}.{name}", f"there is one in {folders}", "expected a name of its own for each")
    return found | {name: [file] for name, file in _outside.get(kind, {}).items()}


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
            allowed = f"expected one of {', '.join(TYPES)} or a Literal"
            own = next(source for source in reversed(line) if parameter in source.fields)
            allowed += at(own.path, own.line(parameter))
            raise InputError(f"{kind}.{name}", f"parameter {parameter!r} is a {annotation}", allowed)
    required: set[str] = set()
    for source in line:
        required = required - set(source.fields) | source.required
    constants = {k: value for source in line for k, value in source.constants.items() if k not in parameters}
    return Method(kind, name, path, line[-1].node.name, parameters, frozenset(required), constants)


def used(variant: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and parameters of a method that is written `{use: name, parameter: value, ...}`."""
    return variant["use"], {key: value for key, value in variant.items() if key != "use"}


def create(kind: str, name: str, parameters: Mapping[str, Any] | None = None, game: str = "") -> Any:
    """Import a method and build it with checked parameters."""
    check_parameters(kind, name, parameters or {})
    check_given(kind, name, parameters or {})
    found = method(kind, name, game)
    if found.path.is_relative_to(ROOT):
        module = importlib.import_module(".".join([ROOT.name, *found.path.relative_to(ROOT).with_suffix("").parts]))
    else:
        module = _of_file(kind, found.path)
    return getattr(module, found.class_name)(**(parameters or {}))


@functools.cache
def _of_file(kind: str, path: Path) -> Any:
    """Module of a file outside the library."""
    name = f"outside.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where a dataclass looks for what its annotations mean
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        line = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        wrong = f"cannot be imported: {type(error).__name__}: {error}"
        raise InputError(f"{kind}.{path.stem}", wrong, f"{path}, line {line[-1] if line else 1}") from error
    return module


def check_parameters(kind: str, name: str, given: Mapping[str, Any]) -> None:
    """Raise InputError unless every given parameter exists and has a value of its declared type."""
    found = method(kind, name)
    known, bounds = found.parameters, found.constants.get("limits", {})
    for parameter, value in given.items():
        if parameter not in known:
            raise InputError(
                f"{kind}.{name}",
                f"has no parameter {parameter!r}",
                nearest(parameter, known) if known else "it has none",
            )
        allowed = _allowed(known[parameter], value) or limits.beyond(bounds, parameter, value)
        if allowed:
            raise InputError(f"{kind}.{name}", f"{parameter} = {value!r}", allowed)


def check_given(kind: str, name: str, given: Mapping[str, Any]) -> None:
    """Raise InputError unless every parameter without a default is given."""
    for parameter in sorted(method(kind, name).required - set(given)):
        raise InputError(f"{kind}.{name}", f"its parameter {parameter!r} is not given", "it has no default")


def _allowed(annotation: str, value: Any) -> str:
    """Expected type or limits of a parameter if `value` does not fit; else empty."""
    if annotation.startswith("Literal["):
        choices = ast.literal_eval(annotation.removeprefix("Literal[").removesuffix("]") + ",")
        same = any(type(value) is type(choice) and value == choice for choice in choices)
        return "" if same else f"allowed: {', '.join(map(repr, choices))}"
    types = TYPES[annotation]
    if isinstance(value, types) and (bool in types or not isinstance(value, bool)):
        return ""
    number = yamls.written(value, annotation == "int") if annotation in NUMBERS else ""
    return f"expected {annotation}" + (f": write {number}" if number else "")


def strength(defense: str) -> tuple[str, float, float]:
    """The parameter by which a defense trades utility for privacy, with its least and greatest value.

    Raises:
        InputError: it names none, or not a number that it takes.

    """
    found, where = method("defense", defense), f"defense.{defense}"
    parameter, ends = found.constants.get("strength", ""), found.constants.get("strengths", ())
    if not parameter:
        raise InputError(where, "names no `strength`", "a defense is matched by the parameter that it names")
    if found.parameters.get(parameter) != "float":
        raise InputError(where, f"its strength {parameter!r} is no parameter of the type float", "expected one")
    if len(ends) != 2 or not 0 <= ends[0] < ends[1]:
        raise InputError(where, f"its strengths are {ends}", "expected (least, greatest)")
    for value in ends:
        check_parameters("defense", defense, {parameter: value})
    return parameter, float(ends[0]), float(ends[1])
