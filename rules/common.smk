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

from snakemake.exceptions import WorkflowError

from cutlayer.core import memory, yamls
from cutlayer.core.errors import InputError, nearest
from cutlayer.core.failures import KEEP_GOING
from cutlayer.data import sources
from cutlayer.plan import code as code_of, plugins, targets
from cutlayer.plan.jobs import SHARED
from cutlayer.plan.plan import Plan
from cutlayer.reference import published
from cutlayer.site import api, order
from launch import changes, environment, notes, processes, warm
from launch.internals import Internals

# The plan stays in memory to the end. Else the garbage collector scans it again and again, and once more at the end: a fourth
# of a dry run.
gc.set_threshold(warm.GARBAGE)
atexit.register(gc.freeze)

internals = Internals(workflow)
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
    # Snakemake has read them by now, and has taken one of two equal keys.
    for file in internals.config_files if internals.is_main else ():
        yamls.read(file)
    plan = Plan(config)
    # Snakemake does not check targets before all rules are read, and then calls functions with their names.
    targets.check(sys.argv[1:] if internals.is_main else (), plan)
    # In the environment, not in `params`: where the copies lie does not change what they are.
    mirror = environment.prepare(config.get("mirror", ""))
    if mirror and internals.is_main:
        sources.check_mirror(mirror)
    ORIGINALS = [row for row in sources.read_sources(SOURCES) if row.file]

internals.before_running(sentences()(processes.settle), changes.report)


onstart:
    for line in plan.left_out:
        print(line, file=sys.stderr)
    os.environ[KEEP_GOING] = "yes" if internals.keeps_going else ""
    with sentences():
        environment.check(*internals.executor)
        environment.check_times(internals.files_read())
        processes.claim()
    if internals.runs_here and not internals.touches:
        warm.start()


onsuccess:
    changes.keep()
    names = {*plan.setups, *plan.defenses, *plan.attacks, SHARED}
    if not internals.touches and (failed := notes.found(names)):
        raise WorkflowError("failed, and marked so in tables and ledger", *failed)


memory.set_for_children()
gpus = environment.gpus(internals.max_gpus)

EXHIBITS = {f"{paper}/{name}": exhibit for paper, name, exhibit in plan.all_exhibits()}
REFERENCE = published.available(published.FOLDER, plan.papers)
TABLES = [key for key, exhibit in EXHIBITS.items() if exhibit["draw"]["use"] == "table"]


wildcard_constraints:
    dataset=r"\w+",
    folder="|".join(sorted({row.dataset for row in ORIGINALS})),
    setup=r"\w+",
    defense=r"\w+",
    attack=r"\w+",
    paper=r"\w+",
    exhibit=r"\w+",
