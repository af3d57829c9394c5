"""What a run found: every row is counted once, and each side of a comparison adds up."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from cutlayer.ledger import overview
from cutlayer.ledger.verdicts import ORDER
from cutlayer.reference import compare, found
from cutlayer.reference.published import FOLDER

CLAIMS = Path(__file__).parents[2] / FOLDER / "claims.csv"


def test_every_verdict_is_of_one_group() -> None:
    known = [word for words in overview.GROUPS.values() for word in words]
    assert len(known) == len(set(known))
    assert set(known) <= set(ORDER)
    counts = overview.grouped(ORDER)
    assert sum(counts.values()) == len(ORDER)
    assert [*counts] == [*overview.GROUPS, overview.NOT_JUDGED]


def test_a_run_agrees_with_itself(tmp_path: Path) -> None:
    table = compare.read(CLAIMS)
    same = found.agreement(table, table)
    known = int(table["ours"].notna().sum())
    assert (same.agree, len(same.differ), same.one_sided, same.added) == (known, 0, 0, 0)
    assert same.without == len(table) - known > 0
    assert len(found.lines(CLAIMS.parent, tmp_path)) == 2


def test_what_is_moved_out_of_its_interval_does_not_agree_and_a_new_row_is_new(tmp_path: Path) -> None:
    table = pd.read_csv(CLAIMS, keep_default_na=False, dtype=str)
    measured = table.index[table["high"] != ""][:3]
    for column in ("ours", "low", "high"):
        table.loc[measured, column] = "1e6"
    table.loc[table.index[table["ours"] != ""][-1], ["ours", "low", "high"]] = ""
    table.loc[len(table)] = table.iloc[0].where(table.columns != "item", "new")
    table.to_csv(tmp_path / "claims.csv", index=False)
    changed = found.agreement(compare.read(tmp_path / "claims.csv"), compare.read(CLAIMS))
    assert (len(changed.differ), changed.one_sided, changed.added) == (3, 1, 1)
    said = found.lines(tmp_path, CLAIMS.parent)
    assert len(said) == 3
    assert "3 do not; 1 rows have a number on one side only" in said[2]
