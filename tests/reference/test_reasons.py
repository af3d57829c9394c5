"""The reference's verdicts follow from its cells by today's rules, and have today's words beside them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pandas as pd
import pytest

from cutlayer.core.errors import InputError
from cutlayer.ledger import cells
from cutlayer.plan.check_lines import parsed
from cutlayer.plan.plan import Plan
from cutlayer.reference import judged_again, published, reasons, redrawn

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / published.FOLDER
FILE = "claims.csv"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return reasons.of_reference(ROOT)


@pytest.fixture(scope="module")
def judged(plan: Plan) -> pd.DataFrame:
    """All rows, from the committed cells."""
    return redrawn.judged(plan, FOLDER)


@pytest.fixture
def changed(judged: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with another claims.csv, of which nothing is judged again."""
    monkeypatch.setattr(redrawn, "judged", lambda *_: judged)
    return tmp_path


def test_verdicts_follow_from_the_cells_and_words_are_of_today(plan: Plan, judged: pd.DataFrame, changed: Path) -> None:
    committed = pd.read_csv(FOLDER / FILE, dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(reasons.renewed(plan, FOLDER), committed)


def test_no_row_that_fails_or_differs_is_without_a_reason() -> None:
    rows = pd.read_csv(FOLDER / FILE, dtype=str, keep_default_na=False)
    bad = rows[rows["verdict"].str.startswith(("fails", "differs"))]
    assert len(bad) > 0
    assert bad.loc[bad["why"] == "", ["paper", "item", "setup"]].to_numpy().tolist() == []


def test_words_that_are_written_later_come_in(plan: Plan, judged: pd.DataFrame, changed: Path) -> None:
    cells.write(judged.assign(why="not looked at", statement="as it was said before"), changed / FILE)
    pd.testing.assert_frame_equal(reasons.renewed(plan, changed), judged)


@pytest.mark.parametrize(
    ("column", "value"),
    [("verdict", "holds for ever"), ("threshold", "at least 2"), ("ours", "7"), ("published", "7"), ("size", "huge")],
)
def test_what_was_decided_otherwise_is_refused(
    plan: Plan, judged: pd.DataFrame, changed: Path, column: str, value: str
) -> None:
    place = int(judged[judged["ours"] != ""].index[-1])
    other = judged.copy()
    other.loc[place, column] = value
    cells.write(other, changed / FILE)
    row = judged.loc[place]
    with pytest.raises(InputError, match=f"{row['item']}.*: {column} is '{value}'.*expected the rules that judged it"):
        reasons.renewed(plan, changed)


def test_a_claim_that_is_new_needs_a_run(plan: Plan, judged: pd.DataFrame, changed: Path) -> None:
    cells.write(judged[1:], changed / FILE)
    with pytest.raises(InputError, match=rf"has {len(judged) - 1} rows, and today's rules give {len(judged)}"):
        reasons.renewed(plan, changed)


def test_judging_again_says_which_verdicts_change(
    plan: Plan, judged: pd.DataFrame, changed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By rules of another time the first row failed; what was measured stays."""
    folder = changed / published.FOLDER
    folder.mkdir()
    cells.write(judged.assign(verdict=judged["verdict"].where(judged.index != 0, "fails")), folder / FILE)
    monkeypatch.setattr(reasons, "of_reference", lambda _: plan)
    for name in ("write_ledger", "draw"):
        monkeypatch.setattr(redrawn, name, lambda *_: None)
    (row,) = judged_again.judge(changed).to_dict("records")
    assert (row["item"], row["verdict before"], row["verdict"]) == (judged["item"][0], "fails", judged["verdict"][0])
    pd.testing.assert_frame_equal(redrawn.read(folder / FILE), judged)


def test_a_claim_may_ask_for_cells_that_the_run_does_not_have_yet(plan: Plan) -> None:
    """A new defense, attack or setting of an exhibit that is published: no row raises, and it says why."""
    content = plan.papers["marvell"]
    sides = ("newer - none", "none - newer", "marvell[sum_kl=7.0] - none")
    claims = {
        str(place): {
            "text": "It is so.",
            "place": "p",
            "check": parsed(f"leak_auc_mean under {side} in figure3a <= 0", "c"),
        }
        for place, side in enumerate(sides)
    }
    published = {**content, "claims": claims, "numbers": [], "main": []}
    newer = SimpleNamespace(papers={"marvell": published}, folder=plan.folder, at=plan.at, scales=plan.scales)
    rows = redrawn.judged(cast(Plan, newer), FOLDER)
    assert {*rows["verdict"]} == {"no result"}
    assert {*rows["why"]} == {redrawn.OLDER, "the run has no setting sum_kl=7.0"}


@pytest.mark.parametrize(
    ("change", "newer"),
    [({}, False), ({"defenses": ["none", "new"]}, True), ({"setups": ["new"]}, True), ({"attacks": ["new"]}, True),
     ({"worst": {"among": {"norm": ["norm"]}}, "attacks": ["new"]}, False),
     ({"worst": {"among": {"everything": ["norm"]}}}, True)],
)  # fmt: skip
def test_an_exhibit_that_asks_for_more_than_the_run_has_is_not_drawn_again(change: dict, newer: bool) -> None:
    table = pd.DataFrame({"setup": ["criteo"] * 2, "defense": ["none", ""], "attack": ["norm", ""]})
    exhibit = {"setups": ["criteo"], "defenses": ["none"], "attacks": ["norm"]} | change
    assert published.is_newer(exhibit, table) == newer


def test_a_table_of_facts_has_no_defense_and_is_drawn_again() -> None:
    table = pd.DataFrame({"setup": ["criteo"], "defense": [""], "attack": [""]})
    assert not published.is_newer({"setups": ["criteo"], "defenses": ["none"], "attacks": []}, table)
