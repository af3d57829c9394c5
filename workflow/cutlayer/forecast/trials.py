"""Trials: a run or an attack as it is, but for its size; how its time and its files grow with the setup's sizes.

Each game says in `work.py` what the time of a training grows with (`amounts`), what an attack's does (`cases`), which
arrays grow (`entries`), and how a setup looks with little of all (`small`, `more`, `wider`). A run is tried small and
then with more of each amount, an attack on a small run and, without a defense, on a wider one; between them time is
taken for a straight line. The seconds are a core's, whatever else it does.
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from cutlayer.core import artifacts
from cutlayer.data.normalised import facts, read
from cutlayer.plan import code, plugins
from cutlayer.plan.plan import Plan
from cutlayer.plan.sweeps import UNDEFENDED, settings_of
from cutlayer.stages import runs, scores, theory

from .store import Store

STEPS = 4  # of an epoch of the smallest trial
ENOUGH = 0.2  # seconds by which a longer trial must be longer
SHORT = 0.5  # seconds of a call that is made twice
SMALL = "small"
TIMES = (2, 8, 32, 128)  # how much more a longer trial has, until it is long enough
TRIED = 2  # settings of a sweep: the first and the last
ROWS = "rows"  # a parameter of a defense
EFFORT = ("epochs", "steps")  # parameters of an attack that its time grows with
FILES = ("transcript", "truth", "learned")
NAMES = ("dataset", "sensitive", "partition", "model_of")  # of a setup: what its time does not depend on

Params = Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """A run, small."""

    setup: str
    defense: str
    settings: Params  # the setup's
    variant: Params  # the defense, with the settings that are tried
    share: float  # all settings, as a multiple of those that are tried
    size: str = SMALL


class Trials:
    """Makes each trial once; its files go to a folder that is removed at the end."""

    def __init__(self, plan: Plan, data: str | Path, store: Store | None = None) -> None:
        self.plan, self.data, self.store = plan, str(data), store or Store()
        self._room = tempfile.TemporaryDirectory(prefix="cutlayer-")
        self._facts: dict[str, dict[str, Any]] = {}
        self._imported: set[tuple[str, ...]] = set()  # of what the modules are there, as they are in a warm job

    def facts(self, setup: str) -> dict[str, Any]:
        """Of a setup's data: what `normalise` notes, and how many rows have each value of an attribute."""
        name = self.plan.setups[setup]["dataset"]
        if name not in self._facts:
            table, _ = read(self.data, name)
            counts = {key: np.bincount(codes).tolist() for key, codes in table.attributes.items()}
            self._facts[name] = facts(self.data, name) | {"counts": counts}
        return self._facts[name]

    def work(self, setup: str) -> Any:
        """What a setup's game says of its work."""
        return importlib.import_module(f"cutlayer.games.{self.plan.setups[setup]['protocol']}.work")

    def small(self, setup: str, defense: str) -> Run:
        """A run as it is tried."""
        variant, own = self.plan.defense(setup, defense), self.plan.setups[setup]
        settled = settings_of(variant)
        labels = list(settled)
        labels = labels if len(labels) <= TRIED else [labels[0], labels[-1]]
        chosen = {"use": variant["use"], "settings": {label: settled[label] for label in labels}}
        few = self.work(setup).small(own, self.facts(setup), steps(own, chosen["settings"].values()))
        return Run(setup, defense, few, chosen, len(settled) / len(labels))

    def wider(self, setup: str, defense: str) -> Run:
        """The same with more of what attacks grow with."""
        more = self.work(setup).wider(self.plan.setups[setup], self.facts(setup), STEPS)
        return replace(self.small(setup, defense), settings=more, size="wider")

    def seconds(self, setup: str, defense: str) -> float:
        """Seconds of one seed of a run, on the line through its trials."""
        run = self.small(setup, defense)
        found = self._took(run, run.settings)
        for amount, (real, tried) in self._amounts(run).items():
            found += max(0.0, real - tried) * self.slope(setup, defense, amount)
        return run.share * found

    def slope(self, setup: str, defense: str, amount: str) -> float:
        """Seconds for one more of an amount, in all settings that are tried."""
        run, work, known = self.small(setup, defense), self.work(setup), self.facts(setup)
        most, tried = self._amounts(run)[amount]
        if most <= tried:
            return 0.0
        given = self._given(run)
        before = self._took(run, run.settings, given)
        for times in TIMES:
            larger = work.more(run.settings, known, amount, times)
            longer, added = self._took(run, larger, given), work.amounts(larger, known)[amount] - tried
            if longer - before > ENOUGH or tried + added >= most:
                break
        return max(0.0, longer - before) / added if added else 0.0

    def bytes(self, setup: str, defense: str) -> dict[str, float]:
        """Bytes of the files of one seed of a run, by the part they are of."""
        run, work, known = self.small(setup, defense), self.work(setup), self.facts(setup)
        real, tried = (work.entries(own, known) for own in (self.plan.setups[setup], run.settings))
        found = dict.fromkeys(FILES, 0.0)
        for part, array, size in self.store.once(["bytes", self._looks(run, run.settings)], lambda: self._sizes(run)):
            owner, name = array.rpartition("|")[::2]
            grown = real[name] / tried[name] if part != "learned" and tried.get(name) else 1.0
            found[part] += size * grown * (1 if part == "learned" or owner in ("", "shared") else run.share)
        return found

    def attacks(self, setup: str, defense: str, names: list[str]) -> float:
        """Seconds of these attacks on one seed of a run."""
        return sum(self._attack(setup, defense, name) for name in names)

    def _attack(self, setup: str, defense: str, name: str) -> float:
        """Seconds of an attack on one seed of a run: those on a small run, by how much more there is to do."""
        run = self.small(setup, defense)
        whole, part = (self._cases(setup, settings, name) for settings in (None, run.settings))
        if whole == part:
            return run.share * self._on(run, name)
        fixed, each = self._line(setup, self._like(setup, defense, name), name)
        return run.share * self._on(run, name) * (fixed + each * whole) / (fixed + each * part)

    def _like(self, setup: str, defense: str, name: str) -> str:
        """The run on which an attack is tried with more to do: the undefended one, of which a wider one is soon made.

        The defense's own, if the attack has something to do there alone.
        """
        own, undefended = (self._each(self.small(setup, one), name) for one in (defense, UNDEFENDED))
        return UNDEFENDED if undefended > own / 2 else defense

    def _each(self, run: Run, name: str) -> float:
        """Seconds of an attack for each case of each setting of a run that is tried."""
        cases = self._cases(run.setup, run.settings, name) * len(settings_of(run.variant))
        return self._on(run, name) / max(1.0, cases)

    def _line(self, setup: str, defense: str, name: str) -> tuple[float, float]:
        """Seconds of an attack that it takes anyhow, and for each case, through a small run and a wider one."""
        run, wider = self.small(setup, defense), self.wider(setup, defense)
        part, more = (self._cases(setup, one.settings, name) for one in (run, wider))
        seconds = self._on(run, name)
        if more == part:  # what it grows with does not come in more
            return 0.0, seconds / part
        each = max(0.0, self._on(wider, name) - seconds) / (more - part)
        return max(0.0, seconds - each * part), each

    def _cases(self, setup: str, settings: Params | None, name: str) -> float:
        """What an attack's time grows with in these settings of a setup, or in its own."""
        method = self._method(name)
        own = self.plan.setups[setup] if settings is None else settings
        found: float = self.work(setup).cases(own, self.facts(setup), vars(method), method.target)
        return found

    def _method(self, name: str) -> Any:
        return plugins.create("attack", *plugins.used(self.plan.attacks[name]))

    def theory(self, paper: str, setup: str, defense: str) -> float:
        """Seconds of a paper's measurements on one seed of a run."""
        run, work, known = self.small(setup, defense), self.work(setup), self.facts(setup)
        whole, part = (work.cases(s, known, {}, "") for s in (self.plan.setups[setup], run.settings))

        def measure() -> float:
            seen, true, _ = self.files(run)
            output = self._folder(run) / f"{paper}.csv"
            return timed(lambda: theory.measure(paper, setup, defense, [seen], [true], [0], output))

        return run.share * whole / part * self.store.once(["theory", paper, self._looks(run, run.settings)], measure)

    def _amounts(self, run: Run) -> dict[str, tuple[float, float]]:
        """What the time grows with: as it is, and as it is tried."""
        work, known = self.work(run.setup), self.facts(run.setup)
        tried = work.amounts(run.settings, known)
        return {key: (real, tried[key]) for key, real in work.amounts(self.plan.setups[run.setup], known).items()}

    def _took(self, run: Run, settings: Params, given: bool = False) -> float:
        """Seconds of a trial; the model may be given that it would train."""
        took: float = self.store.once(
            ["run", self._looks(run, settings), given], lambda: self._execute(run, settings, given)
        )
        return took

    def _execute(self, run: Run, settings: Params, given: bool = False) -> float:
        """Seconds of a trial that is made now; those of no other amount leave their files."""
        known = [self.files(self.small(run.setup, run.defense))[-1]] if given else []
        trained = known or self._trained(run.setup, run.defense)
        folder = self._folder(run) if settings == run.settings else self._folder(run) / "more"
        arguments = run.setup, run.defense, settings, run.variant, self.data, trained, folder / "utility.csv", [0]
        kind = (settings["protocol"], settings["model"]["use"])
        if kind not in self._imported:
            self._imported.add(kind)
            runs.execute(*arguments)
        return timed(lambda: runs.execute(*arguments))

    def _given(self, run: Run) -> bool:
        """Whether the model is one that all share, so that after the first trial it is trained no more."""
        return not self.plan.trained_by(run.setup, run.defense) and self.plan.trained_by(run.setup, "") == run.setup

    def _trained(self, setup: str, defense: str) -> list[str]:
        """The file of the model that a run does not train itself."""
        other = self.plan.trained_by(setup, defense)
        return [self.files(self.small(other, UNDEFENDED))[-1]] if other else []

    def files(self, run: Run) -> list[str]:
        """Transcript, truth and what was learned of a run that is tried."""
        files = [self._folder(run) / f"seed0.{part}.safetensors" for part in FILES]
        if not files[-1].exists():
            self._execute(run, run.settings, run.size != SMALL and self._given(run))
        return [str(file) for file in files]

    def _sizes(self, run: Run) -> list[list[Any]]:
        """Part, name and bytes of each array in the files of a small run."""
        return [
            [part, name, array.nbytes]
            for part, file in zip(FILES, self.files(run), strict=True)
            for name, array in artifacts.map_arrays(file)[0].items()
        ]

    def _on(self, run: Run, name: str) -> float:
        """Seconds of an attack on a run that is tried, on the line through its efforts."""
        method = self._method(name)
        real = {key: getattr(method, key) for key in EFFORT if hasattr(method, key)}
        tried = {key: min(value, 2) for key, value in real.items()}
        seconds = self._scored(run, name, tried)
        if tried == real:
            return seconds
        key = max(real, key=lambda one: real[one])
        for times in TIMES:
            larger = tried | {key: min(real[key], times * tried[key])}
            longer = self._scored(run, name, larger)
            if longer - seconds > ENOUGH or larger[key] == real[key]:
                break
        before, after, whole = (float(np.prod(list(effort.values()))) for effort in (tried, larger, real))
        return seconds + max(0.0, longer - seconds) / (after - before) * (whole - before)

    def _scored(self, run: Run, name: str, effort: Params) -> float:
        """Seconds of an attack with so much effort on a small run."""
        variant, protocol = {**self.plan.attacks[name], **effort}, run.settings["protocol"]

        def measure() -> float:
            seen, true, _ = self.files(run)
            output = self._folder(run) / f"{name}.csv"
            arguments = run.setup, run.defense, protocol, {name: variant}, [seen], [true], [0], [output]
            if (protocol, variant["use"]) not in self._imported:
                self._imported.add((protocol, variant["use"]))
                scores.score(*arguments)
            return timed(lambda: scores.score(*arguments))

        own = checksum(plugins.method("attack", variant["use"], protocol).path)
        return self.store.once(["attack", variant, own, self._looks(run, run.settings)], measure)

    def _looks(self, run: Run, settings: Params) -> str:
        """What the time of a trial depends on: two that differ in names only are one."""
        known, protocol = self.facts(run.setup), settings["protocol"]
        values = len(known["counts"].get(settings.get("sensitive", ""), []))
        sizes = [values, *(known[key] for key in ("rows", "features", "classes", "kind"))]
        own = {key: value for key, value in settings.items() if key not in NAMES}
        files = [
            plugins.method("protocol", protocol).path,
            plugins.method("model", settings["model"]["use"], protocol).path,
            plugins.method("defense", run.variant["use"], protocol).path,
        ]
        return json.dumps([own, sizes, run.variant, checksum(*files)], sort_keys=True)

    def _folder(self, run: Run) -> Path:
        folder = Path(self._room.name, run.setup, run.defense, run.size)
        (folder / "more").mkdir(parents=True, exist_ok=True)
        return folder


def steps(settings: Params, parameters: Iterable[Params]) -> int:
    """Steps of an epoch of a trial: enough for the rows that a defense looks at in each, besides the batch."""
    rows = max(own.get(ROWS, 0) for own in parameters)
    return max(STEPS, math.ceil(rows / settings["batch"])) if rows else STEPS


def timed(call: Callable[[], object]) -> float:
    """Seconds of a core; of a short call the less of two, for what else the machine does is multiplied with it.

    As in a job there is one thread: those that wait for each other count as work. Libraries come with the first trial
    that needs them, so that each call is held to one anew.
    """
    took: list[float] = []
    with threadpool_limits(1):
        while not took or (len(took) < 2 and took[0] < SHORT):
            start = time.process_time()
            call()
            took.append(time.process_time() - start)
    return min(took)


@functools.cache
def checksum(*files: Path) -> str:
    """Of the library's files and all that they import."""
    return code.digest(tuple(map(str, files)))
