"""How far ours is from what is printed: the median in tolerances, exhibit by exhibit, and where no defense acts."""

from __future__ import annotations

import pandas as pd
import pytest

from cutlayer.ledger import check_cells, distance
from cutlayer.site import distance as picture


def row(difference: float, **own: object) -> dict[str, object]:
    """A row of claims.csv."""
    return {
        "paper": "p", "kind": "number", "exhibit": "table1", "provenance": "real", "seeds": 3, "tolerance": 0.02,
        "ours": 0.7, "low": 0.6, "high": 0.8, "difference": difference, "size": "reduced: rows", "defended": "yes",
        "defense": "marvell", "attack": "norm", "dataset": "criteo", "scale": "quick",
    } | own  # fmt: skip


def test_a_distance_is_the_median_in_tolerances_and_apart_where_no_defense_acts():
    rows = [row(0.02), row(-0.04), row(0.2), row(0.01, defended="no"), row(-0.5, exhibit="table2")]
    found = distance.table(pd.DataFrame(rows)).set_index("exhibit")
    assert list(found.index) == ["table1", "table2"]
    assert found.loc["table1", ["numbers", "distance", "undefended", "distance undefended"]].tolist() == [
        4, "1.5", 1, "0.5",
    ]  # fmt: skip
    assert found.loc["table1", "scales"] == "quick"
    assert found.loc["table2", ["distance", "undefended", "distance undefended"]].tolist() == ["25", 0, ""]


@pytest.mark.parametrize(
    "own", [{"kind": "claim"}, {"provenance": "stand-in"}, {"seeds": 0}, {"ours": None}, {"tolerance": None}]
)
def test_what_is_no_result_beside_a_printed_number_is_left_out(own):
    assert distance.table(pd.DataFrame([row(0.02, **own), row(0.02)]))["numbers"].tolist() == [1]


@pytest.mark.parametrize(
    ("cells", "acts"),
    [
        ([("none", "")], False),
        ([("tappfl", "weight=0.0"), ("none", "")], False),
        ([("tappfl", "weight=0.25")], True),
        ([("none", ""), ("secdt", "")], True),
        ([("", "")], False),  # a fact of the data
    ],
)
def test_a_weight_of_0_is_no_defense(cells, acts):
    assert check_cells.acts(pd.DataFrame(cells, columns=["defense", "setting"])) is acts


@pytest.mark.parametrize("rows", [[row(0.02), row(0.1, defended="no", attack=""), row(5.0, ours=9.0)], []])
def test_a_picture_is_drawn_whatever_there_is(tmp_path, rows):
    files = {kind: tmp_path / f"p.{kind}" for kind in ("png", "pdf")}
    picture.draw(pd.DataFrame(rows, columns=list(row(0))), "p", {}, files)
    assert all(file.stat().st_size > 1000 for file in files.values())


def test_a_picture_names_every_scale_that_its_numbers_are_of():
    rows = pd.DataFrame([row(0.02, scale="reference"), row(0.02, scale="printed")])
    assert picture._foot(distance.compared(rows), 2).startswith("scale reference and printed · 2 numbers")
