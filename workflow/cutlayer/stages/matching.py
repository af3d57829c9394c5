"""Matching: tunes a defense's strength to a target leak, so that defenses are compared at equal leak.

For one setup, defense and seed, the parameter that the defense calls its `strength` is bisected, on a logarithmic scale
if its least value is positive, until the leak (a metric of one attack) is within a tolerance of a target. An evaluation
is a whole training and an attack on it; all are remembered, and each target starts from the nearest that are known. All
strengths of a seed are trained with the same random numbers: what differs is the strength.

Nothing is assumed of the curve. Between two neighboring strengths of which one leaks more than the target and the other
less, the widest gap is halved; of several such pairs that of least strength counts. While there is none, and fewer
strengths were tried than one target may take, the widest gap of all is halved, or that between the last strength that
leaks too much and one above it at which the training failed (if all leak too little: the same, the other way round). A
strength at which training or attack failed is never an answer; it divides a gap. What a variant sweeps, and its named
settings, are of no account here: its other parameters are as they are fixed. As in the paper, the leak is measured on
the rows that are then shown: where nothing falls smoothly, the strength is partly the one that was lucky on them.

Arroyo Arevalo, Noorbakhsh, Dong, Hong, Wang, "Task-Agnostic Privacy-Preserving Representation Learning for Federated
Learning Against Attribute Inference Attacks", figure 4, tune the baselines so.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from cutlayer.core import artifacts
from cutlayer.core.errors import InputError, nearest
from cutlayer.core.failures import Failed, tolerate
from cutlayer.core.progress import steps
from cutlayer.data.normalised import read
from cutlayer.games.base.protocol import Protocol, Task
from cutlayer.metrics import declared
from cutlayer.plan import plugins
from cutlayer.plan.sweeps import fixed_of

from .scores import measured

ROUNDING = 1e-9  # a leak that differs by exactly the tolerance is within it
DIGITS = 6  # significant ones of a strength


@dataclass(frozen=True)
class Point:
    """Evaluation of one strength: its leak and all metrics, or the reason why it cannot be used."""

    leak: float = math.nan
    metrics: Mapping[str, float] = field(default_factory=dict)
    reason: str = ""


@dataclass
class Search:
    """Bisection over the strengths of one seed: what was evaluated, and what to evaluate next."""

    parameter: str
    least: float
    greatest: float
    evaluate: Callable[[float], Point]
    evaluations: int  # at most so many for one target
    tried: dict[float, Point] = field(default_factory=dict)

    def reach(self, target: float, tolerance: float) -> tuple[float | None, int]:
        """The strength whose leak is within the tolerance of `target`, or None; and the number of evaluations."""
        made = 0
        while not self._reached(target, tolerance):
            strength = self._next(target) if made < self.evaluations else None
            if strength is None:
                return None, made
            self.tried[strength], made = self.evaluate(strength), made + 1
        return self.closest(target), made

    def _reached(self, target: float, tolerance: float) -> bool:
        close = self.closest(target)
        return close is not None and abs(self.tried[close].leak - target) <= tolerance + ROUNDING

    @property
    def usable(self) -> list[float]:
        """Strengths that have a leak, in ascending order."""
        return sorted(strength for strength, point in self.tried.items() if not point.reason)

    def closest(self, target: float) -> float | None:
        """The usable strength whose leak is nearest to the target; the least of equals."""
        return min(self.usable, key=lambda strength: abs(self.tried[strength].leak - target), default=None)

    def _next(self, target: float) -> float | None:
        """Next strength: an end, then one between two that enclose the target, else elsewhere; None if none is left."""
        for end in (self.least, self.greatest):
            if end not in self.tried:
                return end
        if around := self._enclosing(target):
            return self._halved(*around)
        return self._halved(*self._elsewhere(target)) if len(self.tried) < self.evaluations else None

    def _enclosing(self, target: float) -> tuple[float, float] | None:
        """The least two neighboring strengths whose leaks enclose the target."""
        for pair in itertools.pairwise(self.usable):
            below, above = sorted(self.tried[strength].leak for strength in pair)
            if below < target < above:
                return pair
        return None

    def _elsewhere(self, target: float) -> tuple[float, float]:
        """Strength next to those that failed on the target's side, if there are any; else in the widest gap of all."""
        usable, leaks = self.usable, [self.tried[strength].leak for strength in self.usable]
        if usable and min(leaks) > target and usable[-1] < self.greatest:
            return usable[-1], min(strength for strength in self.tried if strength > usable[-1])
        if usable and max(leaks) < target and usable[0] > self.least:
            return max(strength for strength in self.tried if strength < usable[0]), usable[0]
        return self.least, self.greatest

    def _halved(self, low: float, high: float) -> float | None:
        """Middle of the widest gap from `low` to `high`; None if it is narrower than the digits of a strength."""
        inside = sorted(strength for strength in self.tried if low <= strength <= high)
        into, back = (math.log, math.exp) if self.least > 0 else (float, float)
        a, b = max(itertools.pairwise(inside), key=lambda gap: into(gap[1]) - into(gap[0]))
        middle = float(f"{back((into(a) + into(b)) / 2):.{DIGITS}g}")
        return middle if a < middle < b else None


def match(
    setup: str,
    variant: str,
    settings: Mapping[str, Any],
    defense: Mapping[str, Any],
    attack: Mapping[str, Any],
    rule: Mapping[str, Any],
    evaluations: int,
    data: str | Path,
    trained: Sequence[str | Path],
    seeds: Sequence[int],
    output: str | Path,
    device: str = "cpu",
) -> list[str]:
    """Write one row for each seed, target and metric; returns why seeds failed, see `failures`.

    `rule` says which `attack`, which metric of it is the `leak` and which of a run the `utility`, the `targets` and the
    `tolerance`; `trained` are as for `runs.execute`. Columns: setup, defense, attack, seed, setting ("inference=0.65"),
    metric, value, and `skipped`: why the target was not reached (then value is empty). Metrics: leak and utility as
    reached, majority where the attack has it, strength, evaluations (trainings made for this target).
    """
    table, _ = read(data, settings["dataset"])
    parameter, least, greatest = plugins.strength(defense["use"])
    protocol = plugins.create("protocol", settings["protocol"])
    rows: list[dict[str, Any]] = []
    reasons: list[str] = []
    for index, seed in enumerate(steps(seeds, f"match {setup}/{variant}")):
        learned, failed = artifacts.read_arrays(trained[index]) if trained else (None, None)
        task = Task(setup, variant, seed, table, settings, {}, learned, device)
        evaluate = partial(_evaluated, protocol, task, defense, parameter, attack, rule)
        search = Search(parameter, least, greatest, evaluate, evaluations)
        who = {"setup": setup, "defense": variant, "attack": rule["attack"], "seed": seed}
        found = Failed(f"{failed} (undefended)") if failed else tolerate(partial(matched, search, rule))
        if isinstance(found, Failed):
            reasons.append(found.reason)
            found = [{"setting": "", "metric": "", "value": None, "skipped": found.reason}]
        rows += [who | row for row in found]
    artifacts.write_rows(output, rows)
    return reasons


def matched(search: Search, rule: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Rows of one seed for all targets: setting, metric, value, skipped."""
    return list(_matched(search, rule))


def _matched(search: Search, rule: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for target in rule["targets"]:
        own = {"setting": f"inference={target}"}
        strength, made = search.reach(target, rule["tolerance"])
        if strength is None:
            yield own | {"metric": "", "value": None, "skipped": missed(search, target, rule)}
            continue
        metrics = search.tried[strength].metrics
        shown = {name: metrics[name] for name in (rule["leak"], declared.MAJORITY, rule["utility"]) if name in metrics}
        for name, value in (shown | {"strength": strength, "evaluations": made}).items():
            yield own | {"metric": name, "value": value, "skipped": ""}


def missed(search: Search, target: float, rule: Mapping[str, Any]) -> str:
    """Sentence for a figure's footer on why no strength reaches a target."""
    tried, close = search.tried, search.closest(target)
    span = f"no {search.parameter} from {search.least:g} to {search.greatest:g}"
    reasons = [point.reason for point in tried.values() if point.reason]
    failed = f"; {len(reasons)} of {len(tried)} failed ({reasons[0]})" if reasons else ""
    if close is None:
        return f"{span} can be used{failed}"
    leaks, found = [tried[strength].leak for strength in search.usable], tried[close]
    if min(leaks) > target:
        known = declared.MAJORITY in found.metrics
        common = f", most common value {found.metrics[declared.MAJORITY]:.3f}" if known else ""
        return f"{span} brings it to {target:g}: least of {len(leaks)} found {min(leaks):.3f}{common}{failed}"
    if max(leaks) < target:
        return f"{span} leaves {target:g}: greatest of {len(leaks)} found {max(leaks):.3f}{failed}"
    near = f"nearest of {len(leaks)} found {found.leak:.3f} at {close:g}"
    return f"{span} was found within {rule['tolerance']:g} of {target:g}: {near}{failed}"


def _evaluated(
    protocol: Protocol,
    task: Task,
    defense: Mapping[str, Any],
    parameter: str,
    attack: Mapping[str, Any],
    rule: Mapping[str, Any],
    strength: float,
) -> Point:
    """Train and attack under one strength; one that diverges or is refused is unusable."""
    method = plugins.create("attack", attack["use"], fixed_of(attack))
    settled = plugins.create(
        "defense", defense["use"], fixed_of(defense) | {parameter: strength}, task.settings["protocol"]
    )
    name = (task.setup, task.variant, "", rule["attack"], task.seed)
    try:
        outcome = protocol.outcome(dataclasses.replace(task, defenses={"": settled}))
        seen = outcome.shared | outcome.transcripts[""]
        rows = measured(method, protocol, outcome.truth, task.device, seen, name)
    except InputError as error:
        return Point(reason=error.wrong)
    metrics = _means([*rows, *(row for row in outcome.utility if "attack" not in row)])
    reasons = [row["skipped"] for row in rows if row["skipped"]]
    if rule["leak"] not in metrics and reasons:
        return Point(reason=reasons[0])
    for wanted in (rule["leak"], rule["utility"]):
        if wanted not in metrics:
            raise InputError(f"match.{task.name}", f"there is no metric {wanted!r}", nearest(wanted, metrics))
    return Point(metrics[rule["leak"]], metrics)


def _means(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Metrics averaged over cases."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if not row.get("skipped"):
            found.setdefault(row["metric"], []).append(float(row["value"]))
    return {name: math.fsum(values) / len(values) for name, values in found.items()}
