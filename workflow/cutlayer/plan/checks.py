"""Helpers for checks of the configuration: validation by models, known names, errors with file and key."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from cutlayer.core import yamls
from cutlayer.core.errors import InputError, nearest

Checked = TypeVar("Checked", bound=BaseModel)


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` overridden by `over`, with nested mappings merged."""
    both = {
        k: merged(base[k], v) for k, v in over.items() if isinstance(v, Mapping) and isinstance(base.get(k), Mapping)
    }
    return {**base, **over, **both}


def validate(content: Any, shape: type[Checked], where: str) -> Checked:
    """The content of a file, validated by its model; InputError with file and key if it does not fit."""
    try:
        return shape.model_validate(content)
    except ValidationError as refused:
        refusals: dict[tuple[Any, ...], list[tuple[str, str]]] = {}
        for error in refused.errors(include_url=False):
            refusals.setdefault(_place(content, error["loc"]), []).append(_explained(error))
    deepest = max(refusals, key=len)  # of several things that are allowed, what comes nearest
    wrong, expected = (list(dict.fromkeys(words)) for words in zip(*refusals[deepest], strict=True))
    raise InputError(f"{where} {'.'.join(map(str, deepest))}".strip(), " and ".join(wrong), " or ".join(expected))


def _place(content: Any, path: tuple[Any, ...]) -> tuple[Any, ...]:
    """The keys of pydantic's path that are in the content, without the names of the union members it tried."""
    found: list[Any] = []
    for key in path:
        if (isinstance(content, dict) and key in content) or (isinstance(content, list) and isinstance(key, int)):
            content = content[key]
            found.append(key)
    return tuple(found)


def _explained(error: Mapping[str, Any]) -> tuple[str, str]:
    """What is wrong, and what was expected, of an error of pydantic."""
    if error["type"] == "missing":
        return f"has no {error['loc'][-1]!r}", "it is needed"
    if error["type"] == "value_error":  # ours, of `shapes` and of the models
        wrong, _, expected = str(error["ctx"]["error"]).partition("; ")
        return wrong, expected
    if error["type"] in {"dict_type", "model_type"}:  # pydantic would name the class
        return reprlib.repr(error["input"]), "should be a mapping"
    whole = error["type"].startswith("int")
    number = yamls.written(error["input"], whole) if whole or error["type"].startswith("float") else ""
    should = "should " + error["msg"].partition("should ")[2]
    return reprlib.repr(error["input"]), should + (f": write {number}" if number else "")


def known(kind: str, name: str, names: Any, where: str) -> None:
    """Raise InputError with file and key unless `name` is one of `names`."""
    if name not in names:
        raise InputError(where, f"there is no {kind} {name!r}", nearest(name, names))


class located:
    """Prefix an error about a plugin with the file and key."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError):
            raise InputError(self.where, str(error)) from error
