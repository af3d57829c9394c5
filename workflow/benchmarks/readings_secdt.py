"""Readings of secdt's model completion on images: bottom model, head, known labels and rows.

Run `make data`, then `python workflow/benchmarks/readings_secdt.py`. The setups are mnist and fashion_mnist at scale
reference. One thing at a time is read otherwise than in the project, with secdt's noise and without.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import torch
from machine import machine
from table import markdown, write
from trials import ROOT, read, reference, spelled

from cutlayer.core.progress import steps
from cutlayer.core.seeds import generator
from cutlayer.core.transcript import Arrays, View
from cutlayer.games.base.protocol import Task
from cutlayer.games.base.snapshot import flattened, parsed, rebuilt
from cutlayer.games.split.attacks.model_completion import ModelCompletion
from cutlayer.games.split.data import prepared
from cutlayer.games.split.defenses.secdt import SecDT
from cutlayer.games.split.protocol import _meet
from cutlayer.plan import plugins

SETUPS, SEEDS = ("mnist", "fashion_mnist"), 3
NOISE = {"with_randomization": {}, "without_randomization": {"noise": 0.0}}
EXPANSIONS = (2, 4, 5)  # 10 is in the tables before
Guess = np.ndarray  # (m, classes)


@dataclass(frozen=True)
class Trained:
    """A training under secdt as the adversary sees it, and what it does not: the fake class of each training row."""

    seen: Arrays
    fakes: np.ndarray
    pools: list[np.ndarray]
    truth: np.ndarray  # labels of the features' rows, those of the attacked test rows last
    test: float  # the model's own accuracy


class Frozen(ModelCompletion):
    """The same, and the bottom stays as it is."""

    def _fine_tuned(self, model: Any, *others: Any) -> Any:
        model.bottom.requires_grad_(False)
        return super()._fine_tuned(model, *others)


def trained(setup: str, settings: Mapping[str, Any], seed: int, **own: Any) -> Trained:
    """One run."""
    table, defense = read(settings["dataset"]), SecDT(**own)
    task = Task(setup, "secdt", seed, table, settings, {"": defense})
    outcome = plugins.create("protocol", settings["protocol"]).run(task)
    state = _meet(task, "", defense, prepared(task)).state  # drawn as in the run
    seen = outcome.shared | outcome.transcripts[""]
    rows = prepared(task).train[: len(seen["features"]) - len(seen["attacked"])]
    truth = np.concatenate([table.labels[rows], outcome.truth["attacked_labels"]])
    test = next(row["value"] for row in outcome.utility if row["metric"] == "test_accuracy")
    return Trained(seen, state.labels.numpy(), [pool.numpy() for pool in state.pools], truth, test)


def guessed(run: Trained, attack: ModelCompletion, seed: int, **changed: Any) -> tuple[Guess, np.ndarray]:
    """The probabilities that an attack ends with, and of which rows."""
    seen = run.seen | {"bottom": run.seen["snapshots"][-1]} | changed
    view = View("secdt", attack.sees, seen, generator("readings", seed), "cpu")
    return attack.infer(view)[-1], seen["attacked"]


def right(run: Trained, attack: ModelCompletion, seed: int, **changed: Any) -> float:
    """Accuracy of the guess."""
    guess, rows = guessed(run, attack, seed, **changed)
    return float((guess.argmax(axis=1) == run.truth[rows]).mean())


def by_fake_labels(run: Trained, attack: ModelCompletion, seed: int) -> tuple[float, float]:
    """Of training rows how often the guess is the fake class, and how often one of the class's own pool."""
    guess, rows = guessed(run, attack, seed, **_of_training(run), known_labels=run.fakes[run.seen["known"]],
                          classes=np.array(sum(map(len, run.pools))))  # fmt: skip
    top, owner = guess.argmax(axis=1), np.empty(guess.shape[1], dtype=int)
    for label, pool in enumerate(run.pools):
        owner[pool] = label
    return float((top == run.fakes[rows]).mean()), float((owner[top] == run.truth[rows]).mean())


def _of_training(run: Trained) -> dict[str, np.ndarray]:
    """As many training rows, of unknown label, to attack in place of the test rows."""
    own = np.setdiff1d(np.arange(len(run.fakes[: run.seen["attacked"][0]])), run.seen["known"])
    return {"attacked": own[-len(run.seen["attacked"]) :]}


def _fresh(run: Trained, seed: int, layers: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The bottom with these layers as random as before the training."""
    _, _, bottom = rebuilt(run.seen["architecture"], run.seen["snapshots"][-1])
    model, inputs = parsed(run.seen["architecture"])
    torch.manual_seed(seed)
    random = model.bottom(inputs).state_dict()
    bottom.load_state_dict({k: random[k] if k.startswith(layers) else v for k, v in bottom.state_dict().items()})
    return {"bottom": flattened(bottom)}


def readings(run: Trained, attack: ModelCompletion, seed: int) -> Iterator[tuple[str, float]]:
    """Name and accuracy of each reading of one run."""
    labeled, count = replace(attack, unlabeled_weight=0.0), np.array(sum(map(len, run.pools)))
    yield "the project's", right(run, attack, seed)
    yield "training rows are attacked, not test rows", right(run, attack, seed, **_of_training(run))
    yield "only rows with known labels are used", right(run, labeled, seed)
    yield "the bottom is not fine-tuned", right(run, Frozen(**vars(attack)), seed)
    yield "a head of K outputs", right(run, attack, seed, classes=count)
    yield (
        "a cut after the first convolution: what follows is random",
        right(run, attack, seed, **_fresh(run, seed, ("second", "last"))),
    )
    yield "a bottom that was never trained", right(run, attack, seed, **_fresh(run, seed, ("first", "second", "last")))
    fake, pool = by_fake_labels(run, attack, seed)
    yield "known labels are fake, a guess of the fake class is right", fake
    yield "known labels are fake, a guess of the class's pool is right", pool


def tried(setup: str, settings: Mapping[str, Any], attack: ModelCompletion) -> list[list[str]]:
    """A row for what is printed, and for each reading: with noise, without noise."""
    found: dict[str, dict[str, list[float]]] = {}
    for seed in steps(range(SEEDS), f"seeds of {setup}"):
        for noise, own in NOISE.items():
            run = trained(setup, settings, seed, **own)
            for name, value in [*readings(run, attack, seed), ("test accuracy of the model", run.test)]:
                found.setdefault(name, {}).setdefault(noise, []).append(value)
    return [printed(setup), *([name, *(spelled(own[noise]) for noise in NOISE)] for name, own in found.items())]


def sized(setup: str, settings: Mapping[str, Any], attack: ModelCompletion) -> list[list[Any]]:
    """The same where known labels are fake, for each number of fake classes."""
    rows: list[list[Any]] = [printed(setup)]
    for expansion in steps(EXPANSIONS, "numbers of fake classes"):
        values = [
            [
                by_fake_labels(trained(setup, settings, seed, expansion=expansion, **own), attack, seed)[0]
                for seed in range(SEEDS)
            ]
            for own in NOISE.values()
        ]
        rows.append([expansion, *map(spelled, values)])
    return rows


def printed(setup: str) -> list[str]:
    """What table 2 has."""
    numbers = pd.read_csv(ROOT / "workflow/papers/secdt/published.csv").query(
        f"item == 'table2' and dataset == '{setup}' and target == 'model_completion' and metric == 'attack_utility'"
    )
    values = dict(zip(numbers["method"], numbers["value"] / 100, strict=True))
    return ["printed", *(f"{values[noise]:.3f}" for noise in NOISE)]


def main() -> None:
    """A table for each setup, and one for the number of fake classes."""
    torch.set_num_threads(1)
    plan, columns = reference(), ["with noise", "without noise"]
    attack = plugins.create("attack", *plugins.used(plan.attacks["model_completion"]))
    about = (
        f"Real data, scale reference, K / k = 10, {SEEDS} seeds, 95% t-intervals: the accuracy of model completion "
        "with four known labels a class, and what table 2 prints."
    )
    parts = [machine("torch", "numpy"), about]
    for setup in SETUPS:
        parts += [f"## {setup}", markdown(["reading", *columns], tried(setup, plan.setups[setup], attack), "l>>")]
    parts += [
        "## The number of fake classes",
        f"{SETUPS[0]}; known labels are fake, and a guess of the fake class is right. The paper does not state K / k.",
        markdown(["K / k", *columns], sized(SETUPS[0], plan.setups[SETUPS[0]], attack), "l>>"),
    ]
    write(__file__, "What the text of secdt leaves open", *parts)


if __name__ == "__main__":
    main()
