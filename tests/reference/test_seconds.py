"""What jobs took: the mean of their pieces, for each setup, as Snakemake's own logs have it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from tests.params import params
from tests.reference.test_reference import row

from cutlayer.core.artifacts import write_rows
from cutlayer.core.errors import InputError
from cutlayer.ledger import cells
from cutlayer.plan import cost
from cutlayer.plan.plan import Plan
from cutlayer.reference.seconds import main, record

ROOT = Path(__file__).parents[2]
PLAN = Plan(params() | {"papers": ["tappfl"], "scale": "reference"})
CUT = next(setup for grain in PLAN.grains if grain.one_seed for setup in grain.setups if setup in PLAN.setups_used)
WHOLE = "loans_race"


def ended(root: Path, job: str, seconds: float) -> None:
    """A job's log."""
    file = root / f"logs/{job}.benchmark.tsv"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"s\th:m:s\n{seconds}\t0:00:00\n", encoding="utf-8")


def recorded(root: Path) -> dict[tuple[str, str], cost.Row]:
    record(PLAN, root, root / "seconds.csv")
    return {(row["setup"], row["kind"]): row for row in cost.read(root / "seconds.csv")}


def of(setup: str, kind: str, part: str) -> int:
    """The pieces of a file of a job."""
    return next(job.pieces for job in cost.by_setup(PLAN)[setup, kind] if part in job.log)


def test_seconds_are_the_mean_of_the_pieces_that_ended(tmp_path: Path) -> None:
    ended(tmp_path, f"run/{WHOLE}/none", 30)
    ended(tmp_path, f"run/{WHOLE}/tappfl", 50)
    for seed in range(2):
        ended(tmp_path, f"run/{CUT}/tappfl.seed{seed}", 10)
    found = recorded(tmp_path)
    assert {*found} == {(WHOLE, "run"), (CUT, "run")}
    pieces = of(WHOLE, "run", "/none.") + of(WHOLE, "run", "/tappfl.")
    assert float(found[WHOLE, "run"]["seconds"]) == pytest.approx(80 / pieces, rel=1e-3)
    assert float(found[CUT, "run"]["seconds"]) == pytest.approx(10 / of(CUT, "run", "/tappfl."), rel=1e-3)
    assert found[CUT, "run"]["pieces"] == str(2 * of(CUT, "run", "/tappfl."))
    assert float(found[WHOLE, "run"]["yardstick"]) > 0


def test_megabytes_are_those_of_the_run_and_not_known_of_what_was_deleted(tmp_path: Path) -> None:
    ended(tmp_path, f"run/{WHOLE}/none", 30)
    ended(tmp_path, f"run/{CUT}/tappfl.seed0", 10)
    for run in (f"{WHOLE}/none", f"{CUT}/tappfl"):
        folder = tmp_path / f"results/runs/{run}"
        folder.mkdir(parents=True)
        (folder / "seed0.truth.safetensors").write_bytes(bytes(4_000_000))
    found = recorded(tmp_path)
    assert float(found[WHOLE, "run"]["megabytes"]) == pytest.approx(4 / of(WHOLE, "run", "/none."), rel=1e-3)
    assert PLAN.temporary(CUT)
    assert found[CUT, "run"]["megabytes"] == ""


def test_a_record_replaces_its_own_rows_and_no_other(tmp_path: Path) -> None:
    ended(tmp_path, f"run/{WHOLE}/none", 30)
    recorded(tmp_path)
    shutil.rmtree(tmp_path / "logs")
    ended(tmp_path, f"run/{WHOLE}/none", 60)
    ended(tmp_path, f"run/{CUT}/tappfl.seed0", 10)
    record(PLAN, tmp_path, tmp_path / "seconds.csv")
    other = Plan(params() | {"papers": ["tappfl"], "scale": "quick"})
    record(other, tmp_path, tmp_path / "seconds.csv")
    rows = cost.read(tmp_path / "seconds.csv")
    assert [(row["scale"], row["setup"]) for row in rows] == [
        ("quick", WHOLE),
        ("reference", CUT),
        ("reference", WHOLE),
    ]
    assert float(rows[2]["seconds"]) == pytest.approx(60 / of(WHOLE, "run", "/none."), rel=1e-3)


def test_a_part_of_a_run_does_not_replace_what_more_of_it_took(tmp_path: Path) -> None:
    ended(tmp_path, f"run/{WHOLE}/none", 30)
    ended(tmp_path, f"run/{WHOLE}/tappfl", 50)
    whole = recorded(tmp_path)[WHOLE, "run"]
    shutil.rmtree(tmp_path / "logs")
    ended(tmp_path, f"run/{WHOLE}/none", 60)
    assert recorded(tmp_path)[WHOLE, "run"] == whole
    write_rows(tmp_path / "seconds.csv", [whole | {"sizes": "other"}])
    assert float(recorded(tmp_path)[WHOLE, "run"]["seconds"]) == pytest.approx(
        60 / of(WHOLE, "run", "/none."), rel=1e-3
    )


def test_what_is_recorded_is_what_is_estimated(tmp_path: Path) -> None:
    """On the same machine, of a run that ended."""
    ended(tmp_path, f"run/{WHOLE}/none", 30)
    ended(tmp_path, f"run/{WHOLE}/tappfl", 50)
    rows = [*recorded(tmp_path).values()]
    found = cost.costs(PLAN, rows, float(rows[0]["yardstick"]))
    jobs = cost.by_setup(PLAN)[WHOLE, "run"]
    share = sum(job.pieces for job in jobs) / int(rows[0]["pieces"])
    assert found["hours"].sum() == pytest.approx(80 * share / 3600, rel=1e-3)


def test_a_finished_run_says_its_scale_and_papers_itself(tmp_path: Path) -> None:
    shutil.copy(ROOT / "params.yaml", tmp_path)
    with pytest.raises(InputError, match=r"^seconds\.results/claims\.csv: is not there"):
        main(tmp_path)
    cells.write(pd.DataFrame([row("tappfl", "leaks", 0.5, 0.4, 0.6)]), tmp_path / "results/claims.csv")
    ended(tmp_path, f"run/{WHOLE}/none", 30)
    assert main(tmp_path).startswith("1 rows of scale reference")
    assert [row["setup"] for row in cost.read(tmp_path / cost.TABLE)] == [WHOLE]
