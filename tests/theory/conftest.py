"""Exhibits drawn from made-up cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from cutlayer.exhibits.base import Beside
from cutlayer.ledger.cells import WHO, summarize
from cutlayer.plan import plugins


@pytest.fixture
def draw(monkeypatch, tmp_path) -> Iterator[Any]:
    """`draw(name, rows, along, **options)`: the figure of a drawing; its files are in `draw.folder`.

    `draw.beside` is what it shows beside its cells.
    """
    figures = []
    monkeypatch.setattr(plt, "close", figures.append)

    def drawn(use, rows, along="all", /, **options):
        cells = pd.DataFrame(rows)[[*WHO, along, "seed", "value", "n", "cases", "skipped"]]
        files = {kind: tmp_path / f"{use}.{kind}" for kind in ("png", "pdf", "md", "tex")}
        plugins.create("exhibit", use, options).draw(
            summarize(cells, "p", "e", "quick"), "A title", files, drawn.beside
        )
        assert files["png"].read_bytes().startswith(b"\x89PNG")
        assert files["pdf"].read_bytes().startswith(b"%PDF")
        return figures.pop()

    drawn.folder, drawn.beside = tmp_path, Beside()
    yield drawn
    monkeypatch.undo()
    plt.close("all")
