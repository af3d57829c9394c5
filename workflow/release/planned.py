"""`planned.py FOLDER SCALE PAPER ...`: the jobs that make the numbers of papers, as the Snakefile of a folder has them.

It prints them as JSON: of each job what it makes, from what, with which parameters, and a checksum of the code that it
runs. Run with the folder's library on the path: code of another commit says itself what it does.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from snakemake.api import SnakemakeApi
from snakemake.exceptions import WorkflowError
from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings, Quietness, ResourceSettings

from cutlayer.plan import code, plugins

SCRIPTS, THREADS = "workflow/scripts", "workflow/launch/environment.py"
RECORDS = "data/normalised/acquired/"  # where original files were found
SHOWING = ("acquire", "describe", "exhibit", "ledger", "site")  # scripts that bring files, draw or judge
OF_THE_MACHINE = ("asked", "attempt", "note")  # parameters
CHECKED = ("contents", "imports", "sources")  # parameters, too: what files hold is compared by itself


def main(folder: Path, scale: str, papers: list[str]) -> dict[str, Any]:
    """Of all jobs that the papers' exhibits need, and of the code that these run."""
    if not plugins.ROOT.is_relative_to(folder):
        sys.exit(f"{plugins.ROOT} is the library of another tree; that of {folder} is meant")
    config = ConfigSettings(config={"scale": scale, "papers": papers})
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api, contextlib.redirect_stdout(sys.stderr):
        workflow = api.workflow(ResourceSettings(cores=1), config, snakefile=folder / "Snakefile", workdir=folder)
        workflow.dag(DAGSettings(targets=set(papers))).summary()
        dag = [*workflow._workflow.dag.jobs]
    jobs = [said(folder, job) for job in dag if job.rule.script and Path(job.rule.script).stem not in SHOWING]
    return {"jobs": jobs, "code": sorted({file for job in jobs for file in job["code"]})}


def said(folder: Path, job: Any) -> dict[str, Any]:
    """What a job makes, and from what."""
    own = [folder / file for file in job.input.get("code", [])]
    script = folder / SCRIPTS / Path(job.rule.script).name
    params = {key: plain(value) for key, value in job.params.items() if key not in OF_THE_MACHINE + CHECKED}
    return {
        "makes": [*map(str, job.output)],
        "reads": [file for file in map(str, job.input) if folder / file not in own and not file.startswith(RECORDS)],
        "with": params,
        "code": relative(folder, {str(folder / THREADS), *code.closure(script, *own)}),
    }


def relative(folder: Path, files: Iterable[str]) -> list[str]:
    """Paths as seen from the folder."""
    return sorted(os.path.relpath(file, folder) for file in files)


def plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    return json.loads(json.dumps(value, default=str))


if __name__ == "__main__":
    try:
        print(json.dumps(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])))
    except WorkflowError as error:
        sys.exit(str(error))
