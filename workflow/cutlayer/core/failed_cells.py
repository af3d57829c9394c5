"""Failed runs and attacks among the rows of a table of results."""

from __future__ import annotations

import pandas as pd

from .failures import PREFIX


def among(cells: pd.DataFrame) -> pd.Series:
    """Mask of a table's rows: True where the run or the attack failed."""
    return cells["skipped"].str.startswith(PREFIX)


def listed(cells: pd.DataFrame) -> list[str]:
    """Each failure in a table once, as a readable sentence."""
    rows = cells[among(cells)].drop_duplicates(["setup", "defense", "skipped"])
    return [
        f"{row['setup']} / {row['defense']}" + _by(cells, row) + f": {row['skipped'].removeprefix(PREFIX)}"
        for _, row in rows.iterrows()
    ]


def _by(cells: pd.DataFrame, row: pd.Series) -> str:
    """The attack's name, if only that attack failed and not the run."""
    same = cells[(cells["setup"] == row["setup"]) & (cells["defense"] == row["defense"])]
    attacks = dict.fromkeys(same["attack"][same["skipped"] == row["skipped"]])
    return f" / {row['attack']}" if len(attacks) == 1 < same["attack"].nunique() else ""
