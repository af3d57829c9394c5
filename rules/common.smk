# What all rules share: the checked plan and the names that wildcards may take.
import atexit
import contextlib
import functools
import gc
import itertools
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(workflow.basedir, "workflow"))

from snakemake import jobs as snakemake_jobs
from snakemake.exceptions import WorkflowError

from cutlayer.core import memory, yamls
from cutlayer.core.errors import InputError
from cutlayer.core.failures import KEEP_GOING
from cutlayer.data import sources
from cutlayer.plan import code as code_of, plugins, targets
from cutlayer.plan.plan import Plan
from cutlayer.reference import published
from cutlayer.site import api, order
from launch import environment, notes, processes, warm

# What is read and planned stays to the end. Else the collector looks through it again and again, and once more after
# the end: a fourth of a dry run.
gc.set_threshold(warm.GARBAGE)
atexit.register(gc.freeze)

# What a script holds counts, see `contents`. Snakemake itself would look when it was written: whoever goes to another
# branch and comes back would run everything again.
snakemake_jobs.get_script_mtime = lambda path: 0

SOURCES = "data/sources.csv"
PATIENCE = 2  # seconds for addresses that failed before to answer
RECORDS = "data/normalised/acquired"  # of each folder of original files what was found


@contextlib.contextmanager
def sentences():
    """Bad input ends Snakemake with a sentence, not a traceback."""
    try:
        yield
    except InputError as error:
        raise WorkflowError(str(error)) from None


with sentences():
    # Snakemake has read them by now, and of a key that is there twice taken one.
    for file in workflow.configfiles if workflow.is_main_process else ():
        yamls.read(file)
    plan = Plan(config)
    # Of targets Snakemake itself tells nothing before all rules are read, and then calls functions with their names.
    targets.check(sys.argv[1:] if workflow.is_main_process else (), plan)
    # In the environment, not in `params`: where the copies lie does not change what they are.
    mirror = environment.prepare(config.get("mirror", ""))
    if mirror and workflow.is_main_process:
        sources.check_mirror(mirror)
    ORIGINALS = [row for row in sources.read_sources(SOURCES) if row.file]

execute = workflow.execute


def settle_and_execute(*, executor_plugin, **settings):
    """Snakemake takes its lock before `onstart`. What runs nothing (--lint, --summary, --dry-run) must change nothing."""
    if workflow.is_main_process and not executor_plugin.common_settings.dryrun_exec:
        with sentences():
            processes.settle()
    execute(executor_plugin=executor_plugin, **settings)


workflow.execute = settle_and_execute


onstart:
    for line in plan.left_out:
        print(line, file=sys.stderr)
    os.environ[KEEP_GOING] = "yes" if workflow.execution_settings.keep_going else ""
    with sentences():
        environment.check(workflow.executor_plugin.name, workflow.executor_settings)
        needed = [job for job in workflow.dag.needrun_jobs() if not job.is_norun]
        environment.check_times(file for job in needed for file in job.input)
        processes.claim()
    if workflow.local_exec and not workflow.touch:
        # Under a rate limit each look at the jobs that are ready starts a timer for another, and so does each job that
        # ends: hundreds of timers, a tenth of a run of short jobs. A machine's own jobs need no limit.
        workflow.scheduler.job_rate_limiter = None
        warm.start()


onsuccess:
    names = {*plan.setups, *plan.defenses, *plan.attacks, SHARED}
    if not workflow.touch and (failed := notes.found(names)):
        raise WorkflowError("failed, and marked so in tables and ledger", *failed)


memory.inherited()
gpus = environment.gpus(workflow.global_resources.get("gpu").value)

EXHIBITS = {f"{paper}/{name}": exhibit for paper, name, exhibit in plan.shown()}
REFERENCE = published.shown(published.FOLDER, plan.papers)
TABLES = [key for key, exhibit in EXHIBITS.items() if exhibit["draw"]["use"] == "table"]
FIGURES = [key for key in EXHIBITS if key not in TABLES]
SHARED = "shared-attacks"  # the job of several attacks on a run; a variant's name has no hyphen


wildcard_constraints:
    dataset=r"\w+",
    folder="|".join(sorted({row.dataset for row in ORIGINALS})),
    setup=r"\w+",
    defense=r"\w+",
    attack=r"\w+",
    paper=r"\w+",
    exhibit=r"\w+",
