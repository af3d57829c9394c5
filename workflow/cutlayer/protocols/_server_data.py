"""Who holds what in the split_server protocol: training, test and auxiliary rows, and what poisons the training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .. import plugins
from ..datasets.base import Table
from ..errors import InputError
from ..models.base import Inputs, Model
from ..seeds import generator, seed_of
from .base import Task

if TYPE_CHECKING:
    import torch

PARTS = (4, 1, 2)  # training : test : auxiliary, as in the paper
KEPT = 2**27  # pixels that are encoded once for all steps, half a gigabyte


@dataclass(frozen=True)
class ServerData:
    """What a training needs, the same for every defense."""

    features: np.ndarray  # (N, ...) of the whole table, without the sensitive column
    all_labels: np.ndarray  # (N,)
    all_attribute: np.ndarray  # (N,)
    train: np.ndarray  # (n,) rows that train, the attacker's own last
    test: np.ndarray
    known: np.ndarray  # the auxiliary rows
    poison: np.ndarray  # (p,) the attacker's own rows among those that train; taken from the auxiliary rows
    classes: int
    values: int  # of the attribute
    model: Model
    inputs: Inputs
    device: str

    @cached_property
    def labels(self) -> torch.Tensor:
        """(n,) int64, of the training rows."""
        return self._tensor(self.all_labels[self.train])

    @cached_property
    def attribute(self) -> torch.Tensor:
        """(n,) int64, of the training rows."""
        return self._tensor(self.all_attribute[self.train])

    def encode(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
        """What the encoder takes, of some training rows."""
        if self._encoded:
            return {name: tensor[rows] for name, tensor in self._encoded.items()}
        return self.encode_table(self.train[rows.cpu().numpy()])

    def encode_table(self, rows: np.ndarray) -> dict[str, torch.Tensor]:
        """What the encoder takes, of some rows of the table."""
        encoded = self.model.encode(self.features[rows], self.inputs)
        return {name: tensor.to(self.device) for name, tensor in encoded.items()}

    def batches(self, task: Task, epoch: int) -> list[torch.Tensor]:
        """Places among the training rows in shuffled batches (B,) of one size; what is left over is dropped."""
        import torch

        order = torch.Generator().manual_seed(seed_of(task.origin, task.seed, "order", epoch))
        size = min(task.settings["batch"], len(self.train))
        shuffled = torch.randperm(len(self.train), generator=order).to(self.device)
        return [batch for batch in shuffled.split(size) if len(batch) == size]

    @cached_property
    def _encoded(self) -> dict[str, torch.Tensor]:
        """Of all training rows, once; nothing if they are too many images for that."""
        pixels = len(self.train) * int(np.prod(self.features.shape[1:]))
        return self.encode_table(self.train) if self.features.ndim == 2 or pixels <= KEPT else {}

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        import torch

        return torch.from_numpy(values.astype(np.int64)).to(self.device)


def prepared(task: Task) -> ServerData:
    """Split the rows 4 : 1 : 2; with `poison`, so large a share of the training rows is the attacker's own."""
    settings, table = task.settings, task.table
    if "sensitive" not in settings:
        raise InputError(f"run.{task.name}", "has no sensitive attribute", "name one of the dataset's: `sensitive`")
    rows = generator(task.origin, task.seed, "split").permutation(len(table.labels))[: settings.get("rows", None)]
    ends = np.cumsum(PARTS) * len(rows) // sum(PARTS)
    train, test, known = np.split(rows, ends[:-1])
    share = settings.get("poison", 0.0)
    poison = known[: round(share / (1 - share) * len(train))]
    train = np.concatenate([train, poison])
    kept = [i for i, name in enumerate(table.feature_names) if name != settings["sensitive"]]
    features = table.features[:, kept] if table.features.ndim == 2 else table.features
    names = [table.feature_names[i] for i in kept]
    options = dict(settings["model"])
    return ServerData(
        features=features,
        all_labels=table.labels,
        all_attribute=table.attributes[settings["sensitive"]],
        train=train,
        test=test,
        known=known,
        poison=poison,
        classes=table.classes,
        values=int(table.attributes[settings["sensitive"]].max()) + 1,
        model=plugins.create("model", options.pop("use"), options),
        inputs=inputs_of(table, features, names, train),
        device=task.device,
    )


def inputs_of(table: Table, features: np.ndarray, names: list[str], train: np.ndarray) -> Inputs:
    """The inputs as a model sees them; columns are standardized by the training rows."""
    codes = set(table.categorical)
    numeric = [i for i, name in enumerate(names) if name not in codes]
    categorical = [i for i, name in enumerate(names) if name in codes]
    numbers = features[train][:, numeric] if numeric else np.zeros((1, 0))
    spread = numbers.std(axis=0)
    return Inputs(
        shape=list(features.shape[1:]),
        numeric=numeric,
        categorical=categorical,
        scale=255.0 if features.dtype == np.uint8 else 1.0,
        center=numbers.mean(axis=0).tolist(),
        spread=np.where(spread > 0, spread, 1.0).tolist(),
        levels=[int(features[:, i].max()) + 1 for i in categorical],
    )
