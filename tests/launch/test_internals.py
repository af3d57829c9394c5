"""What the rules take of Snakemake and that it does not document: Snakemake itself shows that it is there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cutlayer.core.errors import InputError
from launch.internals import READ_IN, Internals

ROOT = Path(__file__).parents[2]
SNAKEFILE = """
import json
import pathlib

from launch.internals import Internals

internals = Internals(workflow)
found = {"is_main": internals.is_main, "config_files": internals.config_files, "max_gpus": internals.max_gpus}
found["submits"] = internals.submits


def settle():
    found["locks"] = [*map(str, pathlib.Path(".snakemake/locks").glob("*"))]
    pathlib.Path("settled").touch()


internals.before_running(settle, pathlib.Path("reported").touch)


onstart:
    found.update(touches=internals.touches, runs_here=internals.runs_here, keeps_going=internals.keeps_going)
    found.update(executor=internals.executor[0], files_read=[*internals.files_read()])


onsuccess:
    print(json.dumps(found))


for name in ("last", "first"):

    rule:
        name:
            name
        input:
            "given",
        output:
            "made",
        params:
            name=name,
        shell:
            "echo {params.name} > {output}"


internals.prefer("first", "last")
"""


def found(folder: Path, *arguments: str) -> dict[str, Any]:
    """What a workflow of one rule finds."""
    (folder / "Snakefile").write_text(SNAKEFILE)
    (folder / "given").touch()
    (folder / "config.yaml").write_text("key: value\n")
    command = [sys.executable, "-m", "snakemake", "--configfile", "config.yaml", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return json.loads(next((line for line in done.stdout.splitlines() if line.startswith("{")), "{}"))


def test_snakemake_still_has_what_the_rules_take_of_it(tmp_path):
    once = found(tmp_path, "--cores", "1", "made", "--keep-going", "--resources", "gpu=2")
    assert once == {
        "is_main": True,
        "config_files": [str(tmp_path / "config.yaml")],
        "max_gpus": 2,
        "submits": False,
        "locks": [],  # Snakemake has none yet
        "touches": False,
        "runs_here": True,
        "keeps_going": True,
        "executor": "local",
        "files_read": ["given"],
    }
    assert (tmp_path / "made").read_text() == "first\n"
    assert (tmp_path / "settled").exists()
    touched = found(tmp_path, "--cores", "1", "made", "--touch", "--forceall")
    assert (touched["touches"], touched["keeps_going"], touched["max_gpus"]) == (True, False, None)


def test_before_a_dry_run_changes_are_reported_and_nothing_is_done(tmp_path):
    assert found(tmp_path, "--cores", "1", "--dry-run") == {}
    assert not (tmp_path / "settled").exists()
    assert (tmp_path / "reported").exists()


def test_what_is_gone_is_named_with_the_version_that_had_it():
    sentence = r"snakemake\.local_exec: is gone \(.*'local_exec'\); expected Snakemake 9\.27\.1"
    with pytest.raises(InputError, match=sentence):
        _ = Internals(SimpleNamespace()).runs_here


def test_it_was_read_in_the_version_that_is_installed():
    assert metadata.version("snakemake") == READ_IN


def test_the_rules_take_nothing_else_of_it():
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "Snakefile", *ROOT.glob("rules/*.smk"))]
    assert {name for text in texts for name in re.findall(r"\bworkflow\.(\w+)", text)} == {"basedir"}
    modules = {name for text in texts for name in re.findall(r"^(?:from|import) (snakemake[\w.]*)", text, flags=re.M)}
    assert modules == {"snakemake.exceptions", "snakemake.utils"}
