"""The data of federated representation learning: each device's rows, the test rows, and the batches of a round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from cutlayer.core.devices import seeded
from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator, seed_of
from cutlayer.games.attributes.data import AttributeData, common, rows_of
from cutlayer.games.base.encoded import picked
from cutlayer.games.base.protocol import Task

TEST_SHARE = 0.2


@dataclass(frozen=True)
class Batch:
    """A batch of each of D devices; rows where `mask` is False are padding."""

    x: torch.Tensor  # (D, B, ...) encoded
    attribute: torch.Tensor  # (D, B) int64
    labels: torch.Tensor  # (D, B) int64
    mask: torch.Tensor  # (D, B) bool
    partner: (
        torch.Tensor
    )  # (D, B) int64: whose x stands in for an independent one, the next row's, the last's the first


@dataclass(frozen=True, kw_only=True)
class FederatedData(AttributeData):
    """Data and encoded rows of all devices; the training rows are grouped by device."""

    sizes: np.ndarray  # (M,) rows of each device

    @cached_property
    def x(self) -> torch.Tensor:
        """Encoded training rows (n, ...)."""
        return self.encoded(self.train)

    def encoded(self, rows: np.ndarray) -> torch.Tensor:
        """Encoded rows (n, ...) of the table."""
        (x,) = self.encode_table(rows).values()
        return x

    def places(self, device: int) -> np.ndarray:
        """Places of a device's rows among the training rows."""
        end = int(self.sizes[: device + 1].sum())
        return np.arange(end - self.sizes[device], end)

    def order(self, task: Task, stage: str, turn: int, device: int) -> list[list[np.ndarray]]:
        """Shuffled batches (at most B,) of a device's rows, for each local epoch of its turn."""
        rng = generator(task.origin, task.seed, stage, turn, device)
        size, own = task.settings["batch"], self.places(device)
        epochs = [rng.permutation(own) for _ in range(task.settings["local_epochs"])]
        return [[rows[i : i + size] for i in range(0, len(rows), size)] for rows in epochs]

    def batch(self, rows: list[np.ndarray]) -> Batch:
        """The batches of D devices side by side; a device that has run out of rows has an empty one."""
        width = max(map(len, rows))
        places, partner = np.zeros((2, len(rows), width), dtype=np.int64)
        mask = np.zeros((len(rows), width), dtype=bool)
        for i, own in enumerate(rows):
            places[i, : len(own)], mask[i, : len(own)] = own, True
            partner[i, : len(own)] = np.roll(np.arange(len(own)), -1)
        chosen = torch.from_numpy(places).to(self.device)
        x = picked(self.x, chosen.flatten()).unflatten(0, chosen.shape)
        return Batch(
            x, self.attribute[chosen], self.labels[chosen], torch.from_numpy(mask).to(self.device),
            torch.from_numpy(partner).to(self.device),
        )  # fmt: skip


def prepared(task: Task) -> FederatedData:
    """Split the rows 4 : 1 into training and test, and the training rows among the devices."""
    rows = rows_of(task)
    test, train = np.split(rows, [round(TEST_SHARE * len(rows))])
    among_inputs = task.settings.get("sensitive_among_inputs", False)
    return FederatedData(**common(task, train, test, among_inputs), sizes=_sizes(task, len(train)))


def _sizes(task: Task, count: int) -> np.ndarray:
    """Rows (M,) of each device: balanced, or log-normally unbalanced by `imbalance`; at least 2."""
    devices, spread = task.settings["devices"], task.settings.get("imbalance", 0.0)
    if count < 2 * devices:
        raise InputError(f"run.{task.name}", f"has {count} training rows for {devices} devices", "at least 2 for each")
    weights = np.exp(spread * generator(task.origin, task.seed, "sizes").standard_normal(devices))
    ends = np.round(np.cumsum(weights) / weights.sum() * (count - 2 * devices)).astype(int)
    return np.diff(ends, prepend=0) + 2


def participants(task: Task, stage: str, turn: int) -> np.ndarray:
    """The devices that the server selects in a round, in ascending order."""
    devices = task.settings["devices"]
    count = max(1, round(task.settings["participation"] * devices))
    return np.sort(generator(task.origin, task.seed, stage, turn).choice(devices, count, replace=False))


def training_devices(task: Task, stage: str, turn: int) -> tuple[np.ndarray, np.ndarray]:
    """The devices that train in a round, in ascending order, and which of them (D,) the server averages.

    Algorithm 1 of the paper has every device update, and the server average those that it selects (`averaged`); in
    FedAvg the others are idle (`selected`).
    """
    selected = participants(task, stage, turn)
    if task.settings.get("participants", "selected") == "selected":
        return selected, np.ones(len(selected), dtype=bool)
    everyone = np.arange(task.settings["devices"])
    return everyone, np.isin(everyone, selected)


def first(task: Task, data: FederatedData, role: str) -> torch.nn.Module:
    """The initial network of a role, equal on all devices, and under all defenses for a given setup and seed."""
    model, inputs = data.model, data.inputs
    made = {
        "extractor": lambda: model.extractor(inputs),
        "privacy": lambda: model.head(inputs, data.values),
        "task": lambda: model.head(inputs, data.classes),
        "utility": lambda: torch.nn.ModuleList(model.critic(inputs, data.values)),
    }
    with seeded(seed_of(task.origin, task.seed, role)):
        return made[role]().to(task.device)
