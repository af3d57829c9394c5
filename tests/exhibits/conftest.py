"""Exhibits drawn from made-up cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest

mpl.use("Agg")
import matplotlib.pyplot as plt

from cutlayer.exhibits.base import PlotContext
from cutlayer.ledger.cells import WHO, summarize
from cutlayer.ledger.worth import with_kept
from cutlayer.plan import plugins


@pytest.fixture
def draw(monkeypatch, tmp_path) -> Iterator[Any]:
    """`draw(name, rows, along, **options)`: the figure of a drawing; its files are in `draw.folder`.

    Those of `draw.kinds`: a picture takes longer to write than all else. `draw.beside` is what it has beside its cells.
    """
    figures = []
    monkeypatch.setattr(plt, "close", figures.append)

    def drawn(use, rows, along="all", /, kept=None, **options):
        cells = pd.DataFrame(rows)[[*WHO, along, "seed", "value", "n", "cases", "skipped"]]
        files = {kind: tmp_path / f"{use}.{kind}" for kind in drawn.kinds}
        table = summarize(cells.assign(scale="quick"), "p", "e")
        table = with_kept(table, kept) if kept else table
        plugins.create("exhibit", use, options).draw(table, "A title", files, drawn.context)
        return figures.pop()

    drawn.folder, drawn.context, drawn.kinds = tmp_path, PlotContext(), ("md", "tex")
    yield drawn
    monkeypatch.undo()
    plt.close("all")
