"""A release asks Snakemake what the numbers of a paper are made of."""

from __future__ import annotations

from pathlib import Path

from release import depends

ROOT = Path(__file__).parents[2]


def test_what_a_paper_depends_on_is_what_its_jobs_import_and_name() -> None:
    used = depends.used(ROOT, "reference", ["chebyshev"])
    assert {"workflow/cutlayer/games/vertical/protocol.py", "workflow/cutlayer/ledger/cells.py"} <= used.code
    assert any(file.startswith("workflow/cutlayer/polytope/") for file in used.code)
    assert not any(file.startswith(("workflow/cutlayer/games/split", "workflow/cutlayer/site")) for file in used.code)
    assert used.names["protocols"] == {"vertical"}
    assert "bank" in used.names["setups"]
    assert "criteo" not in used.names["setups"]
    assert "pps" in used.names["defenses"]
    assert "rcc1" in used.names["attacks"]


def test_what_is_only_timed_counts_too() -> None:
    assert "secdt_alone" in depends.used(ROOT, "reference", ["secdt"]).names["defenses"]
