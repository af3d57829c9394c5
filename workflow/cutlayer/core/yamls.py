"""YAML files, read strictly: what PyYAML would silently drop or misread is an error."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import yaml

from .errors import InputError

FAST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where PyYAML was built with libyaml


class _Twice(yaml.YAMLError):
    """A mapping has a key twice."""


class _Loader(FAST):
    """A safe loader that refuses duplicate keys."""

    def flatten_mapping(self, node: Any) -> None:
        # It is called again for a mapping that `<<` merges elsewhere. By then it also has the keys of its own `<<`,
        # which its own keys may replace.
        keys = {key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)}
        if len(keys) < len(node.value) and not getattr(node, "flat", False):
            _check_keys(node)
        node.flat = True
        super().flatten_mapping(node)


def _check_keys(node: yaml.MappingNode) -> None:
    lines: dict[tuple[str, str], int] = {}
    for key, _ in node.value:
        name, line = (key.tag, str(key.value)), key.start_mark.line + 1
        if name in lines:
            raise _Twice(f"has the key {key.value!r} twice, in lines {lines[name]} and {line}")
        lines[name] = line


def load(text: str | bytes, where: str) -> Any:
    """Parse a YAML text; `where` is its name in errors.

    Raises:
        InputError: it is no YAML, or a mapping has a key twice.

    """
    try:
        return yaml.load(text, _Loader)
    except _Twice as twice:
        raise InputError(where, str(twice), "expected each key once") from None
    except yaml.YAMLError as error:
        raise InputError(where, "is no YAML", " ".join(str(error).split())) from None


def read(path: str | Path, where: str = "") -> Any:
    """Parse a YAML file, independently of the locale."""
    return load(Path(path).read_bytes(), where or str(path))


def written(value: Any, whole: bool = False) -> str:
    """The YAML notation of a number that YAML parses as text, such as 1e-3; empty for any other value."""
    try:
        number = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        return ""
    if not math.isfinite(number) or (whole and not number.is_integer()):
        return ""
    return str(int(number)) if whole else str(yaml.safe_dump(number)).split()[0]
