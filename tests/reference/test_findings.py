"""Tables of findings in documents: what is written where, of which run."""

from __future__ import annotations

import pandas as pd
import pytest

from cutlayer.core.errors import InputError
from cutlayer.reference import findings
from cutlayer.reference.findings import Run

CONTENT = {"main": [{"text": "Labels leak.", "claims": ["leaks"]}]}
COLUMNS = ["kind", "item", "statement", "setup", "dataset", "provenance", "scale", "seeds", "threshold", "verdict",
           "ours", "low", "high", "alone", "reading"]  # fmt: skip
ROWS = [
    ("claim", "leaks", "It leaks.", "bank", "bank", "real", "quick", 3, "value at least 0.8", "holds (reduced)",
     0.9, 0.85, 0.95, None, None),
    ("claim", "leaks", "It leaks.", "avazu", "avazu", "sample", "quick", 3, "value at least 0.8", "undecided",
     0.8, 0.7, 0.9, "yes", None),
    ("ours", "bound", "It is bounded.", "bank", "bank", "real", "quick", 0, "largest at most 0", "holds",
     0.0, 0.0, 0.0, None, None),
    ("claim", "lost", "It is lost.", "bank", "bank", "real", "quick", 3, None, "no result", *[None] * 5),
    ("number", "table1", "none auc", "bank", "bank", "real", "quick", 3, "0.9", "holds", 0.91, 0.9, 0.92, None, None),
]  # fmt: skip
TEXT = """# A page

[//]: # (findings of marvell)

what was there
[//]: # (end of findings)

between

[//]: # (findings of arena: bound,
  lost)
[//]: # (end of findings)
"""


def run() -> Run:
    return Run(pd.DataFrame(ROWS, columns=COLUMNS), CONTENT, "results/claims.csv")


def test_a_claim_is_a_row_with_verdicts_data_and_numbers() -> None:
    assert run().table([]).strip().splitlines()[-1] == (
        "| It leaks. (value at least 0.8) | **holds\\*:** Bank 0.900 (0.850 to 0.950); "
        "**undecided:** Avazu (sample) 0.80 (0.70 to 0.90)† |"
    )


@pytest.mark.parametrize(("other", "begins"), [("claim", "| Ours. It is bounded."), ("ours", "| It is bounded.")])
def test_a_claim_of_ours_is_told_apart_where_others_are_not(other: str, begins: str) -> None:
    rows = [("ours", "bound", "Ours. It is bounded.", *ROWS[2][3:]), (other, *ROWS[0][1:])]
    assert (
        Run(pd.DataFrame(rows, columns=COLUMNS), CONTENT, "")
        .table(["bound"])
        .strip()
        .splitlines()[-1]
        .startswith(begins)
    )


def test_what_is_exact_has_no_interval_and_what_has_no_result_no_number() -> None:
    assert run().table(["bound", "lost"]).strip().splitlines()[-2:] == [
        "| It is bounded. (largest at most 0) | **holds:** Bank 0 |",
        "| It is lost. | **no result:** Bank |",
    ]


def test_what_is_rounded_to_nothing_has_no_sign() -> None:
    rows = [(*ROWS[0][:-5], -1e-9, -0.2, 0.2, None, None)]
    assert "Bank 0.00 (-0.20 to 0.20)" in Run(pd.DataFrame(rows, columns=COLUMNS), CONTENT, "").table([])


def test_the_size_of_the_run_is_said() -> None:
    assert run().table([]).strip().startswith("*Scale quick, 3 seeds, results/claims.csv.")


def test_the_mark_of_what_stands_by_itself_alone_is_explained_where_it_is() -> None:
    assert "\u2020 stands by itself" in run().table([]).replace("\n", " ")
    assert "stands by itself" not in run().table(["bound"]).replace("\n", " ")


def test_readings_are_named_where_numbers_of_a_claim_are_of_several() -> None:
    rows = [(*row[:-1], reading) for row, reading in zip(ROWS[:2], ("plain", "folded"), strict=True)]
    for own, named in ((rows, True), (rows[:1], False)):
        table = Run(pd.DataFrame(own, columns=COLUMNS), CONTENT, "").table([])
        assert ("Bank [plain] 0.900" in table) == ("in brackets the reading" in table.replace("\n", " ")) == named
    assert "Avazu (sample) [folded] 0.80" in Run(pd.DataFrame(rows, columns=COLUMNS), CONTENT, "").table([])


def test_only_what_is_between_the_marks_is_written_again() -> None:
    once = findings.filled(TEXT, {"marvell": run()})
    assert "what was there" not in once
    assert "It leaks." in once
    assert once.endswith(TEXT[TEXT.index("between") :])
    assert findings.filled(once, {"marvell": run()}) == once


def test_the_distance_of_each_exhibit_is_written_where_a_mark_is() -> None:
    more = {"paper": "marvell", "exhibit": "table1", "tolerance": 0.02, "difference": [0.01, 0.03], "defended": "no",
            "size": "full"}  # fmt: skip
    rows = pd.DataFrame([ROWS[-1]] * 2, columns=COLUMNS).assign(**more)
    text = "[//]: # (distances)\n[//]: # (end of distances)\n"
    once = findings.filled(text, {"marvell": Run(rows, CONTENT, "")})
    assert "| marvell | table1 **1** | table1 **1** | real | quick | full |" in once
    assert findings.filled(once, {"marvell": Run(rows, CONTENT, "")}) == once
    assert findings.filled(text, {}) == text


def test_the_claims_that_a_mark_names_are_written_in_its_order() -> None:
    text = findings.filled(TEXT, {"arena": run()})
    assert text.index("It is bounded.") < text.index("It is lost.")
    assert "It leaks." not in text
    assert "what was there" in text


def test_a_claim_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"findings\.leak: is no claim of this run; one of leaks, bound, lost"):
        run().table(["leak"])
