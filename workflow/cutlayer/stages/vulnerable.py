"""Vulnerable: how often an attack recovers the labels of the records that leak most in other seeds.

A mean over records hides those whose labels leak with certainty. Of the records tracked in all seeds, the most
vulnerable are those that the attack ranks highest in all seeds but one; the result is whether it finds them in that
one. This needs the same records in each seed, which are there if a setup uses all rows of its data.

Aerni, Zhang, Tramer, "Evaluations of Machine Learning Privacy Defenses are Misleading".
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cutlayer.core import artifacts, failures, transcript
from cutlayer.core.failures import Failed, tolerate
from cutlayer.core.progress import steps
from cutlayer.core.seeds import generator
from cutlayer.games.base.attack import Attack, guessed
from cutlayer.games.base.protocol import Protocol
from cutlayer.metrics.exposure import exposure, found_at_rate, most_exposed
from cutlayer.plan import plugins

SHARE = 0.01  # of the tracked records: the most vulnerable ones
FEWEST = 100  # records that all seeds track
NONE = "for setups that follow rows through the training"
TOO_FEW = f"{failures.REDUCED}the seeds watch too few rows of both classes in common; all rows of the data are needed"
ONE_SEED = f"{failures.REDUCED}the most vulnerable rows are chosen on other seeds, and there is one"

Rows = Iterator[dict[str, Any]]


@dataclass(frozen=True)
class Training:
    """A seed of a run: the adversary's view and the true labels by setting, and the records that it tracks."""

    seed: int
    seen: Mapping[str, transcript.Arrays]
    labels: Mapping[str, np.ndarray]  # (W,) of the tracked records
    rows: np.ndarray  # (W,)


def find(
    setup: str,
    variant: str,
    protocol_name: str,
    attacks: Mapping[str, Mapping[str, Any]],
    transcripts: Sequence[str | Path],
    truths: Sequence[str | Path],
    seeds: Sequence[int],
    output: str | Path,
) -> None:
    """Write for each attack on tracked records, setting and seed the share of the most vulnerable records it finds.

    Columns as in scores; metrics: `tpr_of_vulnerable`, the share of them that is found at a false positive rate of 1%,
    and `vulnerable`, their number. `skipped` is the reason for a missing number.
    """
    protocol: Protocol = plugins.create("protocol", protocol_name)
    trainings, wrong = _read(seeds, transcripts, truths)
    rows: list[dict[str, Any]] = []
    for name, attack in steps(list(attacks.items()), f"vulnerable {setup}/{variant}"):
        method: Attack = plugins.create("attack", *plugins.used(attack))
        who = {"setup": setup, "defense": variant, "attack": name, "step": 0, "day": 0}
        for setting in trainings[0].seen if trainings else [""]:
            case = (setup, variant, setting, name)
            found = _skipped(seeds, wrong) if wrong else _compared(method, protocol, trainings, case)
            rows += [who | {"setting": setting} | row for row in found]
    artifacts.write_rows(output, rows)


def _read(
    seeds: Sequence[int], transcripts: Sequence[str | Path], truths: Sequence[str | Path]
) -> tuple[list[Training], str]:
    """The trainings, and the reason if they cannot be compared."""
    found: list[Training] = []
    for seed, seen, true in zip(seeds, transcripts, truths, strict=True):
        try:
            settings = transcript.load(seen)
        except transcript.FailedRun as run:
            return [], str(run)
        if "watched_rows" not in next(iter(settings.values())):
            return [], NONE
        truth = artifacts.read_arrays(true)[0]
        labels = {name: transcript.of_setting(truth, name)["watched_labels"] for name in settings}
        found.append(Training(seed, settings, labels, next(iter(settings.values()))["watched_rows"]))
    if len(found) < 2:
        return found, ONE_SEED
    common = _common([one.rows for one in found])
    classes = np.unique(next(iter(found[0].labels.values()))[np.isin(found[0].rows, common)])
    return found, TOO_FEW if len(common) < FEWEST or len(classes) < 2 else ""


def _skipped(seeds: Sequence[int], why: str) -> Rows:
    yield from ({"seed": seed, "metric": "", "value": None, "skipped": why} for seed in seeds)


def _compared(method: Attack, protocol: Protocol, trainings: Sequence[Training], case: tuple[str, ...]) -> Rows:
    """Metrics of each seed on the records that are most vulnerable in all others."""
    seeds, guesses = [one.seed for one in trainings], []
    for one in trainings:
        guess = tolerate(partial(_guess, method, protocol, one.seen[case[2]], (*case, one.seed)))
        if isinstance(guess, Failed | str):
            yield from _skipped(seeds, guess.reason if isinstance(guess, Failed) else guess)
            return
        guesses.append(guess)
    labels = [one.labels[case[2]] for one in trainings]
    for seed, hits in zip(seeds, found_again([one.rows for one in trainings], labels, guesses), strict=True):
        for metric, value in (("tpr_of_vulnerable", hits.mean()), ("vulnerable", len(hits))):
            yield {"seed": seed, "metric": metric, "value": float(value), "skipped": ""}


def _guess(method: Attack, protocol: Protocol, arrays: transcript.Arrays, name: tuple[Any, ...]) -> np.ndarray | str:
    """Scores (W,) of the tracked records, with the random draws of the attack's own job; or why there are none."""
    ((case, seen, _),) = protocol.cases(arrays, method.target)
    view = transcript.View(name[3], method.sees, seen, generator(*name, *case.values()))
    if reason := method.skip(view):
        return reason
    scores = guessed(method, view, protocol.guess_spec(seen, method.target)).get("")
    if scores is None or scores.ndim != 1:
        return "for attacks that give each row a score, of two classes"
    return np.where(np.isnan(scores), -np.inf, scores.astype(np.float64))  # a record without a guess is not found


def found_again(
    rows: Sequence[np.ndarray], labels: Sequence[np.ndarray], scores: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """For each seed (count,) True for each record found, of those that are most vulnerable in all other seeds.

    `rows` (W,) are the records that each seed tracks, with `labels` (0 or 1) and `scores`; only common ones count.
    """
    common = _common(rows)
    places = [np.argsort(own)[np.searchsorted(np.sort(own), common)] for own in rows]
    common_rows = [(score[place], label[place]) for score, label, place in zip(scores, labels, places, strict=True)]
    exposures = np.stack([exposure(*one) for one in common_rows])
    chosen = most_exposed(exposures, max(1, round(SHARE * len(common))))
    return [found_at_rate(*one)[places] for one, places in zip(common_rows, chosen, strict=True)]


def _common(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Records that all seeds track."""
    return functools.reduce(np.intersect1d, rows)
