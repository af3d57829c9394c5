"""The ledger's rows with their addresses, as a page shows them and as files: csv, json and its schema."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cutlayer.core.files import replacing
from cutlayer.ledger import schema
from cutlayer.reference.compare import KEY

from .marks import slug

DIGITS = 6  # hexadecimal ones, of what tells rows of one item and setup apart


def address(row: Mapping[Any, Any]) -> str:
    """Anchor of a row in rows.html; it stays while paper, item, exhibit, statement, setup and dataset do."""
    digest = hashlib.sha256("\n".join(str(row[name]) for name in KEY).encode()).hexdigest()[:DIGITS]
    return slug("-".join(filter(None, [row["paper"], row["item"], row["setup"] or row["dataset"], digest])))


def write(table: pd.DataFrame, folder: Path) -> None:
    """Write rows.csv, rows.json and rows.schema.json of a claims.csv, with a column `address`."""
    addresses = [*map(address, table.to_dict("records"))]
    table = table.assign(address=addresses, p=pd.to_numeric(table["p"], errors="coerce"))
    with replacing(folder / "rows.csv") as temporary:
        table.to_csv(temporary, index=False, float_format="%.10g")
    for name, content in (
        ("rows.json", json.loads(table.to_json(orient="records"))),
        ("rows.schema.json", schema.rows(address="Anchor of the row in rows.html, which stays.")),
    ):
        with replacing(folder / name) as temporary:
            temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
