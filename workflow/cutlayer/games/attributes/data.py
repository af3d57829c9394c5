"""Data with a sensitive attribute: training and test rows, labels, and the model's inputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.data.datasets.base import Table
from cutlayer.games.base.encoded import EncodedRows
from cutlayer.games.base.model import Inputs
from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins


@dataclass(frozen=True, kw_only=True)
class AttributeData(EncodedRows):
    """Labels and attributes of training and test rows, under every defense; features lack the sensitive column."""

    all_labels: np.ndarray  # (N,)
    all_attribute: np.ndarray  # (N,)
    test: np.ndarray
    classes: int
    values: int  # of the attribute

    @cached_property
    def labels(self) -> torch.Tensor:
        """Labels (n,) int64 of the training rows."""
        return self._tensor(self.all_labels[self.train])

    @cached_property
    def attribute(self) -> torch.Tensor:
        """Sensitive attribute (n,) int64 of the training rows."""
        return self._tensor(self.all_attribute[self.train])

    def _tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values.astype(np.int64)).to(self.device)


def rows_of(task: Task) -> np.ndarray:
    """The rows of the table that a setup uses, shuffled; see `shuffled`."""
    return shuffled(task)[: task.settings.get("rows", None)]


def shuffled(task: Task) -> np.ndarray:
    """All rows of the table, shuffled.

    Raises:
        InputError: the setup names no sensitive attribute.

    """
    if "sensitive" not in task.settings:
        raise InputError(f"run.{task.name}", "has no sensitive attribute", "name one of the dataset's: `sensitive`")
    return generator(task.origin, task.seed, "split").permutation(len(task.table.labels))


def common(task: Task, train: np.ndarray, test: np.ndarray, among_inputs: bool = False) -> dict[str, Any]:
    """The fields of `AttributeData`, without the setup's `excluded` columns.

    The sensitive column is an input only if it is to be `among_inputs`.
    """
    settings, table = task.settings, task.table
    sensitive = settings["sensitive"]
    out = {*settings.get("excluded", []), *([] if among_inputs else [sensitive])}
    kept = [i for i, name in enumerate(table.feature_names) if name not in out]
    features = table.features[:, kept] if table.features.ndim == 2 else table.features
    return {
        "features": features,
        "all_labels": table.labels,
        "all_attribute": table.attributes[sensitive],
        "train": train,
        "test": test,
        "classes": table.classes,
        "values": int(table.attributes[sensitive].max()) + 1,
        "model": plugins.create("model", *plugins.used(settings["model"])),
        "inputs": inputs_of(table, features, [table.feature_names[i] for i in kept], train),
        "device": task.device,
    }


def inputs_of(table: Table, features: np.ndarray, names: list[str], train: np.ndarray) -> Inputs:
    """Schema and statistics of a model's inputs, for standardization by the training rows."""
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
