"""Base class of protocols: who holds what, what crosses between the parties, what an adversary could see."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cutlayer.core.errors import InputError
from cutlayer.core.transcript import Arrays
from cutlayer.data.datasets.base import Table

from . import checks
from .attack import GuessSpec

Case = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A run of one seed: a setup trained under a defense, in all settings of the defense's sweep."""

    setup: str
    variant: str
    seed: int
    table: Table
    settings: Mapping[str, Any]  # the setup as configured
    defenses: Mapping[str, Any]  # setting's label -> Defense
    trained: Arrays | None = None  # what the undefended run of this setup and seed learned
    device: str = "cpu"  # where tensors live; random numbers are drawn on the CPU, see `devices`
    prior: Arrays | None = None  # what features predict of the audited rows, for the truth alone; see `stages.priors`

    @property
    def name(self) -> str:
        """The run's name, in errors and as the seed of its generators."""
        return f"{self.setup}/{self.variant}/seed{self.seed}"

    @property
    def origin(self) -> str:
        """The setup whose split and model this one uses: itself, unless `model_of` or `like` names another."""
        return str(self.settings.get("model_of", self.settings.get("like", self.setup)))


@dataclass(frozen=True)
class Rows:
    """The audited rows of a run, whose label an adversary wants, and others that a model of it may be fitted to."""

    features: np.ndarray  # (m, ...)
    label: np.ndarray  # (m,) int64
    others: np.ndarray  # (n, ...)
    others_label: np.ndarray  # (n,) int64
    codes: list[int]  # the columns of categories


@dataclass
class Outcome:
    """The outcome of a run: transcripts for attacks, truth for metrics, models for later runs of the setup."""

    transcripts: dict[str, dict[str, np.ndarray]] = field(default_factory=dict)  # setting -> arrays
    shared: dict[str, np.ndarray] = field(default_factory=dict)  # seen in every setting
    truth: dict[str, np.ndarray] = field(default_factory=dict)  # for metrics only
    learned: dict[str, np.ndarray] = field(default_factory=dict)
    utility: list[dict[str, Any]] = field(default_factory=list)  # rows: setting, case, metric, value
    failed: str = ""  # why there is nothing else

    @property
    def finite(self) -> bool:
        """Whether all numbers that cross between the parties are finite."""
        arrays = (array for seen in (self.shared, *self.transcripts.values()) for array in seen.values())
        return all(bool(np.isfinite(array).all()) for array in arrays if array.dtype.kind == "f")


class Protocol:
    """A protocol of training or prediction between parties, and its threat model."""

    shows: ClassVar[set[str]] = set()  # what a view of this protocol can hold
    targets: ClassVar[set[str]] = set()  # what an attack on this protocol can infer
    keys: ClassVar[set[str]] = set()  # keys that a setup of this protocol may have
    models: ClassVar[str] = "own"  # whose model a defended run uses: its "own", or the "undefended" one

    def run(self, task: Task) -> Outcome:
        """Train under each setting of the defense and record what crosses between the parties."""
        raise TypeError(f"protocol.{type(self).__name__}: has no `run`; every protocol defines it")

    def audited(self, task: Task) -> Rows:
        """The rows whose leak is measured, and other training rows, which say what features alone predict."""
        raise TypeError(f"protocol.{type(self).__name__}: has no `audited`; its leak beyond features is not measured")

    def outcome(self, task: Task) -> Outcome:
        """`run` with checks: where a hook of a defense fails, or makes the run fail, the error names the hook.

        Raises:
            InputError: a number that crosses between the parties is not finite.

        """
        try:
            with checks.deferred():
                outcome = self.run(task)
        except Exception as error:
            for place in _hooks(error, task.defenses.values()):
                error.add_note(place)
            raise
        if not outcome.finite:
            raise InputError(f"run.{task.name}", "recorded numbers that are not finite", "lower the rate or the noise")
        return outcome

    def cases(self, transcript: Arrays, target: str) -> Iterator[tuple[Case, dict[str, np.ndarray], np.ndarray]]:
        """The attacked views: each with its coordinates in the tables, the visible arrays, and the attacked rows."""
        raise TypeError(f"protocol.{type(self).__name__}: has no `cases`; every protocol defines it")

    def guess_spec(self, seen: Arrays, target: str) -> GuessSpec:
        """The shape and type of the guess expected from an attack on this target."""
        raise TypeError(f"protocol.{type(self).__name__}: has no `guess_spec`; every protocol defines it")

    def leak(
        self, guess: np.ndarray, truth: Arrays, case: Case, rows: np.ndarray, given: ArrayLike = ()
    ) -> dict[str, float]:
        """Leakage metrics of a guess about these rows in a case; the adversary knows the labels of the rows `given`."""
        raise TypeError(f"protocol.{type(self).__name__}: has no `leak`; every protocol defines it")

    def summarize(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Metrics that summarize the leakage of all cases of one setting and seed."""
        return []


def _hooks(error: Exception, defenses: Collection[Any]) -> Iterator[str]:
    """A note with the defense's hook and the line in which an error was raised, if it was raised in one."""
    if isinstance(error, InputError):
        return
    for frame, line in traceback.walk_tb(error.__traceback__):
        own, hook = frame.f_locals.get("self"), frame.f_code.co_name
        if any(own is defense for defense in defenses) and frame.f_code.co_filename == _file(own):
            yield f"in {hook} of defense.{type(own).__module__.rpartition('.')[2]}, line {line}"
            return


def _file(own: object) -> str:
    return str(getattr(sys.modules.get(type(own).__module__), "__file__", ""))
