"""What every check of the configuration uses: schemas, names that exist, errors that say the file and key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema

from cutlayer.core.errors import InputError, nearest


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `over` on top, nested mappings merged."""
    both = {
        k: merged(base[k], v) for k, v in over.items() if isinstance(v, Mapping) and isinstance(base.get(k), Mapping)
    }
    return {**base, **over, **both}


def validate(content: Any, schema: Path, where: str) -> None:
    """Raise unless `content` has the shape of a JSON schema; the error names the key."""
    validator = jsonschema.Draft202012Validator(json.loads(schema.read_text()))
    error = jsonschema.exceptions.best_match(validator.iter_errors(content))
    if error:
        place = ".".join(map(str, error.absolute_path))
        raise InputError(f"{where} {place}".strip(), error.message, f"see {schema.parent.name}/{schema.name}")


def known(kind: str, name: str, names: Any, where: str) -> None:
    """Raise, naming file and key, unless `name` is one of `names`."""
    if name not in names:
        raise InputError(where, f"there is no {kind} {name!r}", nearest(name, names))


class located:
    """Put the file and key in front of an error about a plugin."""

    def __init__(self, where: str) -> None:
        self.where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, InputError):
            raise InputError(self.where, str(error)) from error
