"""Run in a fresh environment by `wheel.check`: the library that is installed there is whole and can be used.

It gets the version and the names of the plugins as json. It imports nothing of the checkout.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from importlib import metadata, resources
from pathlib import Path
from typing import Any

MODULES = ("polytope", "gradient_noise", "pareto", "information", "metrics", "theory")
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
    for name in MODULES:
        module = importlib.import_module(f"cutlayer.{name}")
        for part in pkgutil.iter_modules(getattr(module, "__path__", ())):
            importlib.import_module(f"{module.__name__}.{part.name}")
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
