"""`make show SETUP=criteo SCALE=reference`: a setup as it runs, and where each of its values comes from.

A later place overrides an earlier one: the scale's sizes of the model, of the protocol and of this setup, then the
setup itself.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core import yamls
from cutlayer.core.errors import InputError

from .checks import known
from .plan import Plan
from .sizes import layers


def resolved(config: Mapping[str, Any], name: str) -> pd.DataFrame:
    """Table of a resolved setup: key, value, and the place in params.yaml that sets it."""
    plan = Plan(config)
    known("setup", name, config["setups"], "SETUP")
    values: dict[str, tuple[str, str]] = {}
    for place, layer in layers(plan.sizes, name, config["setups"][name]):
        where = f"scales.{plan.scale}.{place}" if place else f"setups.{name}"
        values |= {key: (json.dumps(value), where) for key, value in _leaves(layer)}
    used = {key for key, _ in _leaves(plan.setups[name])} | {key for key in values if key.startswith("defenses.")}
    rows = [(key, *values[key]) for key in values if key in used]
    return pd.DataFrame(rows, columns=["key", "value", "from"])


def _leaves(layer: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Nested mappings, flattened to names such as `model.width`."""
    for key, value in layer.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def main(arguments: list[str]) -> str:
    """Print the table of a setup, at the scale of params.yaml or another one."""
    if not arguments:
        raise InputError("make show", "has no SETUP", "for example SETUP=criteo")
    name, *scale = arguments
    config = yamls.read(Path("params.yaml"), "params.yaml")
    return str(resolved(config | {"scale": scale[0] if scale else config["scale"]}, name).to_markdown(index=False))


if __name__ == "__main__":
    try:
        print(main(sys.argv[1:]))
    except InputError as error:
        sys.exit(f"error: {error}")
