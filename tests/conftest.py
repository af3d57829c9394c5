"""What the tests share: small runs of the protocols on data that scikit-learn bundles."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import gc
import os
import traceback
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as in a job; small matrices are slower on more
os.environ["MPLBACKEND"] = "agg"  # as in a job; a notebook's shell names another
os.environ.pop("MAKEFLAGS", None)  # ARGS of the `make test` that runs this are not those of a make that a test runs
os.environ.pop("ARGS", None)

import hypothesis
import numpy as np
import pytest

from cutlayer.core.errors import InputError
from cutlayer.data.datasets.base import Table
from cutlayer.games.base.protocol import Outcome, Task
from cutlayer.plan import plugins
from launch.warm import GARBAGE

gc.set_threshold(GARBAGE)  # what was imported and collected stays: looking through it was a twentieth of the tests

# The same examples on every machine and in every run.
hypothesis.settings.register_profile("same", deadline=None, derandomize=True, database=None, max_examples=50)
hypothesis.settings.load_profile("same")

WORKFLOWS, SLURM = ("tests/dvc/", "tests/workflow/"), "tests/slurm/"
NO_MIRROR = "the original files are needed: set CUTLAYER_MIRROR"


RAW = ("assert ", "DID NOT RAISE", "Tensor-likes ", "Scalars ")  # how an assertion begins that no sentence was put to
_violated: dict[tuple[str, str], str] | None = (
    None  # (method, what was found) -> the property that it violates, of --methods
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--methods", default="", help="test the methods of this file or folder, and nothing else")


def pytest_configure(config: pytest.Config) -> None:
    global _violated
    if place := config.getoption("--methods"):
        plugins.look_in(place)
        _violated = {}


def _own(item: pytest.Item | pytest.Collector, names: Collection[str]) -> str:
    """Which of these methods a test is of: it has the name as a parameter; "" if it is of none."""
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return next((value for value in values if isinstance(value, str) and value in names), "")


def _outside() -> dict[str, Path]:
    """The methods of --methods, and their files."""
    return {name: file for found in plugins._outside.values() for name, file in found.items()}


def _turn(item: pytest.Item) -> int:
    """Workflows, which take longest, begin; SLURM, which they may not meet, comes last."""
    return -item.nodeid.startswith(WORKFLOWS) + item.nodeid.startswith(SLURM)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_turn)
    if place := config.getoption("--methods"):
        plugins.look_in(place)
        names = _outside()
        config.hook.pytest_deselected(items=[item for item in items if not _own(item, names)])
        items[:] = [item for item in items if _own(item, names)]
    for item in items:
        if item.get_closest_marker("mirror") and not os.environ.get("CUTLAYER_MIRROR"):
            item.add_marker(pytest.mark.skip(reason=NO_MIRROR))


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test session have."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@contextlib.contextmanager
def lock(file: Path, kind: int = fcntl.LOCK_EX) -> Iterator[None]:
    """Hold a file; with LOCK_SH beside others who do so too."""
    with file.open("a") as held:
        fcntl.flock(held, kind)
        yield


def without_slurm(factory: pytest.TempPathFactory) -> contextlib.AbstractContextManager[None]:
    """The tests of SLURM wait meanwhile."""
    return lock(shared_folder(factory) / "workflows.lock", fcntl.LOCK_SH)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """No workflow runs while SLURM is installed, but for those of its own tests: each would ask it first."""
    with contextlib.ExitStack() as stack:
        if item.nodeid.startswith(WORKFLOWS):
            stack.enter_context(without_slurm(item.config._tmp_path_factory))
        return (yield)


MODEL = {"use": "logistic_regression", "epochs": 30, "batch": 128, "rate": 0.05}
COMMON = {"protocol": "vertical", "fit_on": "all", "model": MODEL, "predictions": 25, "kl_predictions": 100}
SETUPS: dict[str, dict[str, Any]] = {
    "three_classes": COMMON | {"dataset": "wine", "windows": {"sizes": [1, 4, 6], "starts": 2}},
    "two_classes": COMMON | {"dataset": "breast_cancer", "windows": {"sizes": [2, 6], "starts": 2}},
    "one_feature": COMMON | {"dataset": "breast_cancer", "windows": {}, "passive": ["mean texture"]},
    "named_features": COMMON | {"dataset": "breast_cancer", "windows": {}, "passive": ["mean area", "mean smoothness"]},
}


@functools.cache
def _table(name: str) -> Any:
    return plugins.create("dataset", name).load({})


@functools.cache
def _run(setup: str, defense: str, parameters: tuple[tuple[str, Any], ...]) -> Outcome:
    settings = SETUPS[setup]
    trained = None if defense == "none" else _run(setup, "none", ()).learned
    method = plugins.create("defense", defense, dict(parameters), "vertical")
    task = Task(setup, defense, 0, _table(settings["dataset"]), settings, {"": method}, trained)
    return plugins.create("protocol", "vertical").run(task)


@pytest.fixture(scope="session")
def run():
    """`run(setup, defense, **parameters)`: the outcome of one seed of a setup in SETUPS, each run once."""
    return lambda setup, defense="none", **parameters: _run(setup, defense, tuple(parameters.items()))


@pytest.fixture(scope="session")
def cases():
    """`cases(outcome)`: (case, what its adversary sees, rows attacked) for every window of a run."""
    protocol = plugins.create("protocol", "vertical")
    return lambda outcome: list(protocol.cases(outcome.transcripts[""] | outcome.shared, "features"))


SPLIT = {
    "protocol": "split", "test_share": 0.2, "batch": 64, "epochs": 4, "rate": 0.003,
    "records": {"batches": 6, "first_layer": True, "last_layer": True},
    "known": {"rows": 200, "per_class": 8, "attacked": 100, "watched": 150},
}  # fmt: skip
SPLIT_SETUPS: dict[str, dict[str, Any]] = {
    "clicks": SPLIT | {"dataset": "clicks", "model": {"use": "wide_deep", "width": 16, "buckets": 10}},
    "balanced": SPLIT | {"dataset": "breast_cancer", "model": {"use": "wide_deep", "width": 16}},
    "images": SPLIT
    | {"dataset": "digits", "model": {"use": "cnn", "width": 16, "channels": 4}, "epochs": 20}
    | {"known": {"rows": 200, "per_class": 4, "attacked": 100, "watched": 300}},
}


@functools.cache
def clicks() -> Table:
    """One digit against the rest, a tenth positive: half of the pixels as counts, half as categories."""
    digits = _table("digits")
    names = digits.feature_names
    return dataclasses.replace(digits, labels=np.int64(digits.labels == 3), categorical=names[1::2], classes=2)


@functools.cache
def _split_run(setup: str, defense: str, parameters: tuple[tuple[str, Any], ...]) -> Outcome:
    settings = SPLIT_SETUPS[setup]
    method = plugins.create("defense", defense, dict(parameters), "split")
    table = clicks() if setup == "clicks" else _table(settings["dataset"])
    return plugins.create("protocol", "split").run(Task(setup, defense, 0, table, settings, {"": method}))


@pytest.fixture(scope="session")
def split_run():
    """`split_run(setup, defense, **parameters)`: the outcome of one seed of a setup in SPLIT_SETUPS, each run once."""
    return lambda setup, defense="none", **parameters: _split_run(setup, defense, tuple(parameters.items()))


@pytest.fixture(scope="session")
def split_cases():
    """`split_cases(outcome, target)`: (case, what its adversary sees, what is attacked) of a split run."""
    protocol = plugins.create("protocol", "split")
    return lambda outcome, target: list(protocol.cases(outcome.transcripts[""] | outcome.shared, target))


def pytest_exception_interact(node: pytest.Item | pytest.Collector, call: pytest.CallInfo[Any]) -> None:
    """With --methods, a sentence of all tests of a method that find the same: what should hold, and what was found."""
    if _violated is not None and call.excinfo:
        name, statement = _own(node, _outside()), node.nodeid.partition("::test_")[2].replace("_", " ")
        found, theirs = _found(call.excinfo.value)
        if theirs or not any(method == name for method, _ in _violated):  # else one that follows from another
            _violated.setdefault((name, found or statement), ": ".join(filter(None, (statement, found))))


def _found(error: BaseException) -> tuple[str, bool]:
    """The sentence of an error, "" of an assertion that has none; whether it is one of the method's own."""
    if isinstance(error, InputError):
        return str(error), True
    text = next(iter(str(error).splitlines()), "")
    if isinstance(error, AssertionError | pytest.fail.Exception):
        return "" if text.startswith(RAW) else text, True
    files = {str(file) for file in _outside().values()}
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    place = f" ({lines[-1].filename}, line {lines[-1].lineno})" if lines else ""
    return f"{type(error).__name__}: {text}{place}", bool(lines)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for sentence in (_violated or {}).values():
        terminalreporter.write_line(f"not so: {sentence}")
