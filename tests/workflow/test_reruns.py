"""What makes jobs run again: what files hold, and never when they were written."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from cutlayer.core.errors import InputError
from launch import environment

from .conftest import PARTS, ROOT, Project
from .test_dag import jobs, outputs

DEFENSE = "workflow/cutlayer/games/vertical/defenses/pps.py"
SCRIPT = "workflow/scripts/theory.py"
YEAR = 365 * 24 * 3600


def written(project: Project, file: str, text: str, seconds: float) -> None:
    """Add to a file as if that had been so many seconds from now."""
    path = project.folder / file
    path.write_text(path.read_text() + text)
    os.utime(path, (time.time() + seconds,) * 2)


def test_a_touch_of_everything_makes_nothing_run(small_edited: Project) -> None:
    """As `git switch` there and back touches files. Large arrays are none that Snakemake takes a checksum of."""
    parts = [small_edited.folder / part for part in (*PARTS, "data/normalised")]
    files = [file for part in parts for file in (part.rglob("*") if part.is_dir() else [part])]
    for file in files:
        file.touch()
    assert len(files) > 500
    largest = max(file.stat().st_size for file in files if file.suffix == ".json")
    assert "Nothing to be done" in small_edited.run("--dry-run", "--max-checksum-file-size", str(largest))


def test_words_and_rows_of_other_datasets_make_nothing_run(small_edited: Project) -> None:
    for file in (DEFENSE, SCRIPT, "workflow/cutlayer/core/errors.py"):
        written(small_edited, file, "# A comment.\n", 0)
    written(small_edited, "data/sources.csv", "another,own,a.csv,,,,,,,real,,,\n", 0)
    planned = small_edited.run("--dry-run")
    assert "Changed since" not in planned
    assert jobs(planned) == {"all", "site"}  # which shows rows, and docstrings of these, too:
    assert "workflow/cutlayer/data/datasets/wine.py" in planned


def test_what_is_older_and_other_makes_run_what_depends_on_it(small_edited: Project) -> None:
    """As `cp -p`, `mv`, `tar x`, rsync and `git stash` bring files."""
    for file in (DEFENSE, SCRIPT):
        written(small_edited, file, "\nEDITED = 1\n", -YEAR)
    written(small_edited, "docs/data.md", "\nEdited.\n", -YEAR)
    planned = small_edited.run("--dry-run")
    assert f"Changed since the last run: {DEFENSE}, {SCRIPT}\n" in planned
    assert outputs(planned, r"results/runs/\w+/(\w+)/") == {"pps"}
    undefended = outputs(planned, r"(results/theory/chebyshev/wine/none)\.csv")
    assert undefended, "the script is not looked at"
    assert "site" in jobs(planned)
    assert "normalise" not in jobs(planned)


def test_a_dataset_of_ones_own_counts_by_what_its_files_hold(project: Project, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("own")
    (folder / "cells").mkdir()
    shutil.copy(ROOT / "docs/templates/dataset.py", folder / "cells.py")
    file = folder / "cells/cells.csv"
    rows = np.column_stack(load_breast_cancer(return_X_y=True))
    ask = ("data/normalised/cells.json", "--config", f"methods={folder}", "--max-checksum-file-size", "10000")

    def write(content: np.ndarray, seconds: float) -> None:
        np.savetxt(file, content, delimiter=",")
        os.utime(file, (time.time() + seconds,) * 2)

    write(rows, 0)
    assert file.stat().st_size > 10000
    project.run(*ask)
    write(rows, 1)
    assert "Nothing to be done" in project.run("--dry-run", *ask)
    write(rows[::-1], -YEAR)
    assert jobs(project.run("--dry-run", *ask)) == {"normalise"}
    write(rows[::-1], YEAR)
    stopped = project.snakemake(*ask)
    assert "cells/cells.csv: is of a time to come; unless the clock is wrong, `touch " in stopped.stderr
    assert (project.folder / ask[0]).is_file()


def test_a_time_to_come_stops_the_workflow_before_anything_is_lost(small_edited: Project) -> None:
    kept = {file: file.read_bytes() for file in (small_edited.folder / "results/scores").rglob("*.csv")}
    written(small_edited, DEFENSE, "", YEAR)
    assert "Nothing to be done" in small_edited.run()
    written(small_edited, DEFENSE, "\nEDITED = 1\n", YEAR)
    stopped = small_edited.snakemake()
    assert stopped.returncode != 0
    assert f"file.{DEFENSE}: is of a time to come; unless the clock is wrong, `touch {DEFENSE}`" in stopped.stderr
    assert {file: file.read_bytes() for file in kept} == kept


def test_files_of_a_time_to_come_are_named(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("a b.csv", "c.py", "now.py", "not there")]
    for file in files[:3]:
        Path(file).touch()
    os.utime(files[2], (time.time() + 0.2,) * 2)
    environment.check_times(files)
    assert Path(files[2]).stat().st_mtime <= time.time()
    for file in files[:2]:
        os.utime(file, (time.time() + 60,) * 2)
    with pytest.raises(
        InputError, match=r"a b.csv: is of a time to come, as are 1 more; .*`touch '.*/a b.csv' .*c.py`$"
    ):
        environment.check_times(files)
