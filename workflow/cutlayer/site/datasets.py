"""Data page: for each dataset a description, the provenance of our copy, and how to get the original."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from cutlayer.data import sources
from cutlayer.data.normalised import facts
from cutlayer.ledger import names
from cutlayer.plan import plugins
from cutlayer.plan.classes import parsed

from .inputs import Inputs


def described(given: Inputs) -> Iterator[dict[str, Any]]:
    """The datasets of the exhibits, each with its facts and its versions in data/sources.csv."""
    for name in given.datasets:
        yield {
            "name": name,
            "title": names.of_dataset(name),
            "about": _about(name),
            "facts": facts(given.normalised, name),
            "versions": sources.versions_of(name, given.sources, None),
        }


def _about(name: str) -> str:
    """First sentence of the docstring of a dataset's file, after the name."""
    docstring = ast.get_docstring(parsed(plugins.method("dataset", name).path)) or ""
    about = " ".join(docstring.partition("\n\n")[0].partition(": ")[2].split())
    return about[:1].upper() + about[1:]
