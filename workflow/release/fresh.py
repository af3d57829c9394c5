"""Run in a fresh environment by `wheel.check`: the library that is installed there is whole, and all of it imports.

It gets the version and the names of the plugins as json. It imports nothing of the checkout.
"""

from __future__ import annotations

import importlib
import json
import sys
from importlib import metadata, resources
from pathlib import Path
from typing import Any

CREATED: tuple[tuple[str, str, dict[str, float]], ...] = (
    ("defense", "marvell", {"error": 0.4}),
    ("attack", "off_axis", {}),
)
GAME = "split"


def look(expected: dict[str, Any]) -> None:
    """Raise for the first thing that is not as expected."""
    import cutlayer

    place = Path(cutlayer.__file__).resolve()
    assert place.is_relative_to(Path(sys.prefix).resolve()), f"cutlayer is that of {place.parent}, not the wheel's"
    found = metadata.version("cutlayer")
    assert found == expected["version"], f"its version is {found}, not {expected['version']}"
    for file in sorted(place.parent.rglob("*.py")):
        if file.stem != "__main__":
            importlib.import_module(".".join(file.relative_to(place.parent.parent).with_suffix("").parts))
    plugins = importlib.import_module("cutlayer.plan.plugins")
    for kind, names in expected["plugins"].items():
        missing = sorted(set(names) ^ set(plugins.names(kind)))
        assert not missing, f"of kind {kind} there are others than in the checkout: {', '.join(missing)}"
    for kind, name, parameters in CREATED:
        plugins.create(kind, name, parameters, GAME)
    pages = resources.files("cutlayer.site") / "templates"
    assert any(pages.iterdir()), "it has no templates of pages"


if __name__ == "__main__":
    look(json.loads(sys.argv[1]))
