# What all rules share: the checked plan and the names that wildcards may take.
import json
import os
import sys

sys.path.insert(0, os.path.join(workflow.basedir, "workflow"))

from snakemake.exceptions import WorkflowError

from cutlayer import acquire, environment, failures, plugins, processes, warm
from cutlayer.errors import InputError
from cutlayer.plan import Plan

try:
    plan = Plan(config)
except InputError as error:
    raise WorkflowError(str(error)) from None

if workflow.is_main_process and processes.settle():
    failures.retry()


onstart:
    os.environ[failures.KEEP_GOING] = (
        "yes" if workflow.execution_settings.keep_going else ""
    )
    try:
        processes.claim()
    except InputError as error:
        raise WorkflowError(str(error)) from None
    if workflow.local_exec and not workflow.touch:
        warm.start()


onsuccess:
    if failures.found():
        raise WorkflowError(
            "failed, and marked so in tables and ledger", *failures.found()
        )


# In the environment, not in `params`: where the copies lie does not change what they are.
mirror = environment.prepare(config.get("mirror", ""))
gpus = environment.gpus(workflow.global_resources.get("gpu").value)

EXHIBITS = {f"{paper}/{name}": exhibit for paper, name, exhibit in plan.exhibits()}
TABLES = [key for key, exhibit in EXHIBITS.items() if exhibit["draw"]["use"] == "table"]
FIGURES = [key for key in EXHIBITS if key not in TABLES]


wildcard_constraints:
    dataset=r"\w+",
    setup=r"\w+",
    defense=r"\w+",
    attack=r"\w+",
    paper=r"\w+",
    exhibit=r"\w+",
