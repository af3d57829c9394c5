"""The contract of a defense of the split game: what the label party trains towards, returns, and reads as classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch.nn.functional import one_hot

from cutlayer.core.errors import InputError
from cutlayer.games.base import checks
from cutlayer.games.base import defense as base
from cutlayer.games.base.party import PartyContext


@dataclass(frozen=True)
class Training(PartyContext):
    """What the label party knows before the first step."""

    labels: torch.Tensor  # (n,) int64: the labels of the training rows
    classes: int
    outputs: int  # of the top model: what the defense's `outputs` returned
    num_releases: int  # how often each example's gradient is sent: the epochs


@dataclass(frozen=True)
class Context:
    """What the label party knows of a batch."""

    training: Training
    rows: torch.Tensor  # (B,) int64: the batch's places among the training rows
    state: Any = None  # what the defense's `begin` returned

    @property
    def labels(self) -> torch.Tensor:
        """(B,) int64: the batch's labels."""
        return self.training.labels[self.rows]


def _bounded(name: str, found: Any, defense: Defense, training: Training) -> None:
    if found is not None and not 0.5 <= found <= 1:
        raise InputError(name, f"auc_bound returned {found!r}", "None or an AUC from 1/2 to 1 expected")


def _outputs(name: str, found: Any, defense: Defense, classes: int) -> None:
    checks.count(name, "outputs", found, at_least=classes)


def _soft_labels(name: str, found: Any, defense: Defense, context: Context) -> None:
    rows = context.rows
    checks.numbers(name, "soft_labels", found, (len(rows), context.training.outputs), torch.float32, rows.device)


def _backward(name: str, found: Any, defense: Defense, gradient: torch.Tensor, context: Context) -> None:
    checks.like(name, "backward", found, gradient)


def _decoded(name: str, found: Any, defense: Defense, probabilities: np.ndarray, state: Any) -> None:
    columns = found.shape[1] if np.ndim(found) == 2 else 0
    checks.shaped(
        name, "to_class_probabilities", found, (len(probabilities), columns), probabilities.dtype, probabilities.device
    )
    checks.distributions(name, "to_class_probabilities", found)


def _drawn(name: str, found: Any, defense: Defense, state: Any, training: Training) -> None:
    if found is not None:
        shape = (len(training.labels), *([training.classes] if training.classes > 2 else []))
        checks.numbers(name, "drawn", found, shape, torch.float32, training.labels.device)


@dataclass(frozen=True)
class Defense(base.Defense):
    """What protects the labels; all hooks are the label party's, in the order in which they are called."""

    games: ClassVar[set[str]] = {"split"}

    def begin(self, training: Training) -> Any:
        """Called before the first step; what it returns is the `state` of every later hook."""
        return None

    @base.returns(_outputs)
    def outputs(self, classes: int) -> int:
        """How many classes the top model tells apart."""
        return classes

    @base.returns(_bounded)
    def auc_bound(self, training: Training) -> float | None:
        """The largest AUC with which all that is sent for a row may tell its label, if it says so of itself."""
        return None

    @base.returns(_soft_labels)
    def soft_labels(self, context: Context) -> torch.Tensor:
        """What the batch is trained towards: (B, outputs) float32, a row of weights on the classes' log-losses."""
        return one_hot(context.labels, context.training.outputs).float()

    @base.returns(_backward)
    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """What is sent for the per-example gradients (B, d) float32 at the cut; as many, of the same size."""
        return gradient

    @base.returns(_decoded)
    def to_class_probabilities(self, probabilities: np.ndarray, state: Any) -> np.ndarray:
        """The (N, classes) scores, rows sum to 1, that the top model's probabilities (N, outputs) stand for."""
        return probabilities

    @base.returns(_drawn)
    def drawn(self, state: Any, training: Training) -> torch.Tensor | None:
        """What was drawn once for each training row's label, if anything: how it moves the odds of the label.

        (n,) float32, of two classes the log-likelihood ratio of label 1 to label 0; of more (n, classes), each class's
        log-likelihood less any constant of the row. For metrics only: it enters the truth, and no transcript.
        """
        return None
