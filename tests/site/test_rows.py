"""Rows as files: each has an address of its own that stays, csv and json agree, and the schema describes them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

from cutlayer.reference import compare
from cutlayer.reference.published import FOLDER
from cutlayer.site import rows

CLAIMS = Path(__file__).parents[2] / FOLDER / "claims.csv"


def test_each_row_of_the_reference_has_an_address_of_its_own() -> None:
    listed = [*map(rows.address, compare.read(CLAIMS).to_dict("records"))]
    assert len(set(listed)) == len(listed)
    assert all(re.fullmatch(r"[\w-]+", one) for one in listed)


def test_an_address_stays_when_the_verdict_and_the_order_change() -> None:
    table = compare.read(CLAIMS)
    other = table.sample(frac=1, random_state=0).assign(verdict="undecided", ours=0.0)
    assert {*map(rows.address, table.to_dict("records"))} == {*map(rows.address, other.to_dict("records"))}


def test_files_of_all_rows_agree_with_the_page_and_with_their_schema(site: Path) -> None:
    listed = json.loads((site / "rows.json").read_text())
    schema = json.loads((site / "rows.schema.json").read_text())
    jsonschema.validate(listed, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([listed[0] | {"verdict": "maybe"}], schema)
    table = pd.read_csv(site / "rows.csv", keep_default_na=False)
    anchors = re.findall(r'<tr id="([^"]+)"', (site / "rows.html").read_text())
    assert sorted(anchors) == sorted(table["address"]) == sorted(row["address"] for row in listed)
