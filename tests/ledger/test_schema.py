"""The schema of the ledger's rows: it names every column, the reference is valid, and what is wrong is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest

from cutlayer.ledger import schema
from cutlayer.ledger.claims import COLUMNS

ROOT = Path(__file__).parents[2]
NUMBERS = [name for name, (kind, _) in schema.ABOUT.items() if kind == schema.NUMBER]
VALID = jsonschema.Draft202012Validator(json.loads((ROOT / "workflow/schemas/claims.schema.json").read_text()))


def reference() -> list[dict[str, Any]]:
    table = pd.read_csv(
        ROOT / "reference/claims.csv", keep_default_na=False, na_values={name: [""] for name in NUMBERS}
    )
    return list(json.loads(table.to_json(orient="records")))


def test_it_describes_every_column_in_order() -> None:
    assert [*schema.ABOUT] == COLUMNS
    assert all(said.endswith(".") for _, said in schema.ABOUT.values())


def test_every_row_of_the_reference_is_valid() -> None:
    wrong = list(VALID.iter_errors(reference()))
    assert [(error.json_path, error.message) for error in wrong[:3]] == []


@pytest.mark.parametrize(
    "wrong", [{"verdict": "maybe"}, {"kind": "guess"}, {"ours": "0.5"}, {"seeds": -1}, {"statement": ""}, {"more": ""}]
)
def test_what_no_row_is_is_refused(wrong: dict[str, Any]) -> None:
    first = reference()[0]
    assert VALID.is_valid([first])
    assert not VALID.is_valid([first | wrong])
    assert not VALID.is_valid([{name: value for name, value in first.items() if name != "verdict"}])
