"""What the page of data says of each dataset: what it is, where ours comes from, how to get the original."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from cutlayer.data import sources
from cutlayer.data.normalised import facts
from cutlayer.ledger import names
from cutlayer.plan import plugins
from cutlayer.plan.classes import parsed

from .sources import Sources


def described(given: Sources) -> Iterator[dict[str, Any]]:
    """Each dataset of the exhibits: its facts, and the versions of data/sources.csv."""
    for name in given.datasets:
        yield {
            "name": name,
            "title": names.of_dataset(name),
            "about": _about(name),
            "facts": facts(given.normalised, name),
            "versions": sources.versions_of(name, given.sources, None),
        }


def _about(name: str) -> str:
    """The first sentence of the dataset's own file, after its name."""
    said = ast.get_docstring(parsed(plugins.method("dataset", name).path)) or ""
    about = " ".join(said.partition("\n\n")[0].partition(": ")[2].split())
    return about[:1].upper() + about[1:]
