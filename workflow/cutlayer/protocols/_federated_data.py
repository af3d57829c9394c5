"""Who holds what in the federated protocol: each device's rows, the test rows, and the batches of a round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .. import plugins
from ..errors import InputError
from ..seeds import generator, seed_of
from ._server_data import inputs_of
from .base import Task

if TYPE_CHECKING:
    import torch

    from ..models.base import Inputs

TEST_SHARE = 0.2


@dataclass(frozen=True)
class Batch:
    """One batch of each of D devices; rows where `mask` is False are padding."""

    x: torch.Tensor  # (D, B, ...) encoded
    attribute: torch.Tensor  # (D, B) int64
    labels: torch.Tensor  # (D, B) int64
    mask: torch.Tensor  # (D, B) bool
    partner: (
        torch.Tensor
    )  # (D, B) int64: whose x stands in for an independent one, the next row's, the last's the first


@dataclass(frozen=True)
class FederatedData:
    """What a training needs, the same for every defense."""

    features: np.ndarray  # (N, ...) of the whole table, without the sensitive column
    all_labels: np.ndarray  # (N,)
    all_attribute: np.ndarray  # (N,)
    train: np.ndarray  # (n,) rows of all devices, one device's after the other's
    test: np.ndarray
    sizes: np.ndarray  # (M,) rows of each device
    classes: int
    values: int  # of the attribute
    model: object  # a Model with extractor, head and critic
    inputs: Inputs
    device: str

    @cached_property
    def x(self) -> torch.Tensor:
        """(n, ...): the training rows, encoded."""
        return self.encoded(self.train)

    @cached_property
    def attribute(self) -> torch.Tensor:
        """(n,) int64, of the training rows."""
        return self._tensor(self.all_attribute[self.train])

    @cached_property
    def labels(self) -> torch.Tensor:
        """(n,) int64, of the training rows."""
        return self._tensor(self.all_labels[self.train])

    def encoded(self, rows: np.ndarray) -> torch.Tensor:
        """(n, ...): some rows of the table, encoded."""
        (x,) = self.model.encode(self.features[rows], self.inputs).values()  # type: ignore[attr-defined]
        return x.to(self.device)

    def places(self, device: int) -> np.ndarray:
        """Where a device's rows are among the training rows."""
        end = int(self.sizes[: device + 1].sum())
        return np.arange(end - self.sizes[device], end)

    def order(self, task: Task, stage: str, turn: int, device: int) -> list[list[np.ndarray]]:
        """For each local epoch of a device's turn its rows, shuffled, in batches (at most B,)."""
        rng = generator(task.origin, task.seed, stage, turn, device)
        size, own = task.settings["batch"], self.places(device)
        epochs = [rng.permutation(own) for _ in range(task.settings["local_epochs"])]
        return [[rows[i : i + size] for i in range(0, len(rows), size)] for rows in epochs]

    def batch(self, rows: list[np.ndarray]) -> Batch:
        """The batches of D devices side by side; a device that has run out of rows has an empty one."""
        import torch

        width = max(map(len, rows))
        places, partner = np.zeros((2, len(rows), width), dtype=np.int64)
        mask = np.zeros((len(rows), width), dtype=bool)
        for i, own in enumerate(rows):
            places[i, : len(own)], mask[i, : len(own)] = own, True
            partner[i, : len(own)] = np.roll(np.arange(len(own)), -1)
        chosen = torch.from_numpy(places).to(self.device)
        return Batch(
            self.x[chosen], self.attribute[chosen], self.labels[chosen], torch.from_numpy(mask).to(self.device),
            torch.from_numpy(partner).to(self.device),
        )  # fmt: skip

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        import torch

        return torch.from_numpy(values.astype(np.int64)).to(self.device)


def prepared(task: Task) -> FederatedData:
    """Split the rows 4 : 1 into training and test, and the training rows among the devices."""
    settings, table = task.settings, task.table
    if "sensitive" not in settings:
        raise InputError(f"run.{task.name}", "has no sensitive attribute", "name one of the dataset's: `sensitive`")
    rows = generator(task.origin, task.seed, "split").permutation(len(table.labels))[: settings.get("rows", None)]
    test, train = np.split(rows, [round(TEST_SHARE * len(rows))])
    sensitive = "" if settings.get("sensitive_among_inputs", False) else settings["sensitive"]
    kept = [i for i, name in enumerate(table.feature_names) if name != sensitive]
    features = table.features[:, kept] if table.features.ndim == 2 else table.features
    names = [table.feature_names[i] for i in kept]
    options = dict(settings["model"])
    return FederatedData(
        features=features,
        all_labels=table.labels,
        all_attribute=table.attributes[settings["sensitive"]],
        train=train,
        test=test,
        sizes=_sizes(task, len(train)),
        classes=table.classes,
        values=int(table.attributes[settings["sensitive"]].max()) + 1,
        model=plugins.create("model", options.pop("use"), options),
        inputs=inputs_of(table, features, names, train),
        device=task.device,
    )


def _sizes(task: Task, count: int) -> np.ndarray:
    """(M,): how many rows each device has, as equal as can be, or spread by `imbalance` on a log scale; at least 2."""
    devices, spread = task.settings["devices"], task.settings.get("imbalance", 0.0)
    if count < 2 * devices:
        raise InputError(f"run.{task.name}", f"has {count} training rows for {devices} devices", "at least 2 for each")
    weights = np.exp(spread * generator(task.origin, task.seed, "sizes").standard_normal(devices))
    ends = np.round(np.cumsum(weights) / weights.sum() * (count - 2 * devices)).astype(int)
    return np.diff(ends, prepend=0) + 2


def participants(task: Task, stage: str, turn: int) -> np.ndarray:
    """The devices of a round, in ascending order."""
    devices = task.settings["devices"]
    count = max(1, round(task.settings["participation"] * devices))
    return np.sort(generator(task.origin, task.seed, stage, turn).choice(devices, count, replace=False))


def first(task: Task, data: FederatedData, role: str) -> torch.nn.Module:
    """A network as every device has it before the first round, the same for all defenses of one setup and seed."""
    import torch

    model, inputs = data.model, data.inputs
    made = {
        "extractor": lambda: model.extractor(inputs),  # type: ignore[attr-defined]
        "privacy": lambda: model.head(inputs, data.values),  # type: ignore[attr-defined]
        "task": lambda: model.head(inputs, data.classes),  # type: ignore[attr-defined]
        "utility": lambda: torch.nn.ModuleList(model.critic(inputs, data.values)),  # type: ignore[attr-defined]
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(task.origin, task.seed, role))
        return made[role]().to(task.device)
