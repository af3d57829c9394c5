"""What is drawn again from the published cells is what is published."""

from __future__ import annotations

import shutil
from pathlib import Path

from cutlayer.reference import published, redrawn

ROOT = Path(__file__).parents[2]


def test_of_a_table_there_is_markdown_and_of_a_plot_a_picture(tmp_path: Path) -> None:
    paper, names = "chebyshev", ["table1", "figure13"]
    for name in names:
        cells = published.cells(tmp_path, paper, name)
        cells.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(published.cells(ROOT / "reference", paper, name), f"{cells}{published.PACKED}")
    redrawn.draw(redrawn.plan_of(ROOT, [paper]), tmp_path, [(paper, name) for name in names])
    drawn = {file.name for file in (tmp_path / "exhibits" / paper).iterdir()}
    assert drawn == {"table1.csv", "table1.md", "figure13.csv", "figure13.png"}
