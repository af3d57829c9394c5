"""The schemas of the ledger's rows and of cells: they name every column, the reference is valid, the rest refused."""

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


CELLS = jsonschema.Draft202012Validator(json.loads((ROOT / "workflow/schemas/cells.schema.json").read_text()))
FILES = sorted((ROOT / "reference/cells").glob("*/*.csv.gz"))


def cells(file: Path) -> list[dict[str, Any]]:
    """Some of an exhibit's cells: the first of each metric, and the first without a value."""
    words = [name for name, (kind, _) in schema.CELLS.items() if kind.get("type") == "string" or "enum" in kind]
    table = pd.read_csv(file, dtype=dict.fromkeys(words, str)).fillna(dict.fromkeys(words, ""))
    table = table.drop_duplicates(["metric", "attack", "provenance", "skipped", "run"])
    return list(json.loads(table.to_json(orient="records")))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name} {file.name}")
def test_cells_of_the_reference_are_valid_and_have_one_axis(file: Path) -> None:
    found = cells(file)
    assert found
    assert [(error.json_path, error.message) for error in [*CELLS.iter_errors(found)][:3]] == []
    assert len(found[0].keys() - schema.CELLS.keys()) == 1


@pytest.mark.parametrize("wrong", [{"seed": -2}, {"value": "0.5"}, {"provenance": "new"}, {"n": -1}, {"axis": "first"}])
def test_what_no_cell_is_is_refused(wrong: dict[str, Any]) -> None:
    first = cells(FILES[0])[0]
    assert CELLS.is_valid([first])
    assert not CELLS.is_valid([first | wrong])
    assert not CELLS.is_valid([{name: value for name, value in first.items() if name != "metric"}])
