"""The data of a training in split learning: train-test split, batches, and the feature party's side knowledge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator, seed_of
from cutlayer.data.datasets.base import Table
from cutlayer.games.base.encoded import EncodedOnce
from cutlayer.games.base.model import Inputs
from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins

from .coins import NONE, audited, tossed
from .tracked import chosen


@dataclass(frozen=True)
class Phase:
    """One epoch, or one day of a stream: its batches, then the rows that are tested on, if any."""

    batches: list[torch.Tensor]  # each (B,) int64, places among the training rows
    test: np.ndarray | None  # rows of the table
    place: dict[str, Any]  # the test's coordinates in the tables

    def copied(self) -> Sequence[torch.Tensor]:
        """A copy of the batches, which a defense may change."""
        return torch.stack(self.batches).unbind() if self.batches else ()


@dataclass(frozen=True, kw_only=True)
class Data(EncodedOnce):
    """Data and side knowledge of a training, the same under every defense."""

    table: Table
    labels: torch.Tensor  # (n,) int64, of the training rows, on the device
    phases: list[Phase]
    num_releases: int  # how often each training example is in a batch, so that its gradient is released
    shown: dict[str, np.ndarray]  # for the transcript, whatever the defense
    truth: dict[str, np.ndarray]
    tracked: np.ndarray  # (W,) places among the training rows, see `tracked`
    coins: np.ndarray  # (n,) of the training rows, see `coins`; in `labels`, too
    name: str

    @property
    def classes(self) -> int:
        """The number of classes."""
        return self.table.classes

    @cached_property
    def steps(self) -> int:
        """The number of batches."""
        return sum(len(phase.batches) for phase in self.phases)


def prepared(task: Task) -> Data:
    """Split the rows, cut the training rows into batches, and choose what the feature party knows."""
    settings, table = task.settings, task.table
    draw = generator(task.origin, task.seed, "split")
    train, parts = (_by_day if settings.get("stream") else _at_random)(task, draw)
    model = plugins.create("model", *plugins.used(settings["model"]))
    phases = [Phase(_batches(task, rows, i), test, place) for i, (rows, test, place) in enumerate(parts)]
    if not any(phase.batches for phase in phases):
        raise InputError(f"run.{task.name}", "has no batch to train on", "more rows, or a smaller batch")
    shown, truth = _knowledge(task, train, parts[-1][1])
    tracked = _tracked(task, train, shown)
    coins = tossed(task, len(train), tracked, shown.get("known", tracked[:0]))
    labels = np.where(coins == NONE, table.labels[train], coins).astype(np.int64)
    if len(tracked):
        shown |= {"watched_rows": train[tracked], "watched_features": table.features[train[tracked]]}
        shown["prior"] = np.bincount(table.labels[train], minlength=table.classes) / len(labels)  # not of coins
        truth |= {"watched_labels": labels[tracked]} | audited(coins[tracked])
    truth |= task.prior or {}
    num_releases = 1 if settings.get("stream") else settings["epochs"]
    return Data(
        features=table.features, train=train, model=model, inputs=_inputs(table, train), device=task.device,
        table=table, labels=torch.from_numpy(labels).to(task.device), phases=phases, num_releases=num_releases,
        shown=shown, truth=truth, tracked=tracked, coins=coins, name=task.name,
    )  # fmt: skip


Part = tuple[np.ndarray, np.ndarray | None, dict[str, Any]]  # places in train, rows tested on, coordinates


def _at_random(task: Task, draw: np.random.Generator) -> tuple[np.ndarray, list[Part]]:
    """A random train-test split: one part for each epoch, a test after the last."""
    settings = task.settings
    rows = draw.permutation(len(task.table.labels))[: settings.get("rows", None)]
    held = round(settings["test_share"] * len(rows))
    test, train = rows[:held], rows[held:]
    parts: list[Part] = [(np.arange(len(train)), None, {}) for _ in range(settings["epochs"])]
    parts[-1] = (parts[-1][0], test[: settings.get("test_rows", None)], {})
    return train, parts


def _by_day(task: Task, draw: np.random.Generator) -> tuple[np.ndarray, list[Part]]:
    """Train on each day once, test on the next."""
    settings, days = task.settings, task.table.attributes[task.settings["stream"]]
    rows = [draw.permutation(np.flatnonzero(days == day))[: settings.get("rows", None)] for day in np.unique(days)]
    if len(rows) < 2:
        raise InputError(f"run.{task.name}", "has the rows of a single day", "two are needed to learn from day to day")
    ends = np.cumsum([0, *map(len, rows)])
    return np.concatenate(rows[:-1]), [
        (np.arange(ends[day], ends[day + 1]), rows[day + 1][: settings.get("test_rows", None)], {"day": day + 1})
        for day in range(len(rows) - 1)
    ]


def _batches(task: Task, places: np.ndarray, phase: int) -> list[torch.Tensor]:
    """Shuffled batches of one size; the remainder is dropped."""
    size = min(task.settings["batch"], len(places))
    order = torch.Generator().manual_seed(seed_of(task.origin, task.seed, "order", phase))
    shuffled = torch.from_numpy(places)[torch.randperm(len(places), generator=order)]
    return [batch for batch in shuffled.to(task.device).split(size) if len(batch) == size]


def _inputs(table: Table, train: np.ndarray) -> Inputs:
    features, codes = table.features, set(table.categorical)
    flat = features.ndim == 2
    return Inputs(
        shape=list(features.shape[1:]),
        numeric=[i for i, name in enumerate(table.feature_names) if name not in codes] if flat else [],
        categorical=[i for i, name in enumerate(table.feature_names) if name in codes] if flat else [],
        scale=255.0 if features.dtype == np.uint8 else 1.0 if codes else float(features[train].max()),
    )


def _knowledge(
    task: Task, train: np.ndarray, test: np.ndarray | None
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The feature party's side knowledge: own rows with a few known labels per class, and the test rows it attacks.

    `features` holds some training rows and, at `attacked`, some test rows.
    """
    settings, table = task.settings, task.table
    wanted = settings.get("known", {})
    if "per_class" not in wanted or test is None:
        return {"classes": np.array(table.classes)}, {}
    own = train[: wanted["rows"]]
    labels = table.labels[own]
    per_class = [np.flatnonzero(labels == label)[: wanted["per_class"]] for label in range(table.classes)]
    known = np.concatenate(per_class)
    attacked = test[: wanted["attacked"]]
    return {
        "classes": np.array(table.classes),
        "features": table.features[np.concatenate([own, attacked])],
        "known": known,
        "known_labels": labels[known].astype(np.int64),
        "attacked": np.arange(len(own), len(own) + len(attacked)),
    }, {"attacked_labels": table.labels[attacked].astype(np.int64)}


def _tracked(task: Task, train: np.ndarray, shown: Mapping[str, np.ndarray]) -> np.ndarray:
    """Places (W,) of the tracked records among the training rows, those with known labels first."""
    count = task.settings.get("known", {}).get("watched", 0)
    known = shown.get("known", np.array([], dtype=int))  # the feature party's own rows are the first training rows
    return chosen(count, known, train, len(task.table.labels), task.origin)


def days(phases: list[Phase]) -> Iterator[int]:
    """The day of each batch; 0 where there are no days."""
    for phase in phases:
        yield from [phase.place.get("day", 0)] * len(phase.batches)
