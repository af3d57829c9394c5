"""Base class of label defenses in split learning: the top model, its loss, the released gradients, the predictions."""

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
    """The context of a training: what the label party knows before the first step."""

    labels: torch.Tensor  # (n,) int64: the labels of the training rows
    classes: int
    outputs: int  # of the top model: what the defense's `outputs` returned
    num_releases: int  # how often each example's gradient is released: the epochs


@dataclass(frozen=True)
class Context:
    """The context of a batch: what the label party knows of it."""

    training: Training
    rows: torch.Tensor  # (B,) int64: the batch's places among the training rows
    state: Any = None  # what the defense's `begin` returned
    top: Any = None  # the label party's model, as the defense's `top` returned it

    @property
    def labels(self) -> torch.Tensor:
        """The batch's labels (B,) int64."""
        return self.training.labels[self.rows]


def _outputs(name: str, found: Any, defense: Defense, classes: int) -> None:
    checks.count(name, "outputs", found, at_least=classes)


def _soft_labels(name: str, found: Any, defense: Defense, context: Context) -> None:
    rows = context.rows
    checks.numbers(name, "soft_labels", found, (len(rows), context.training.outputs), torch.float32, rows.device)


def _top(name: str, found: Any, defense: Defense, module: torch.nn.Module, width: int, training: Training) -> None:
    if not isinstance(found, torch.nn.Module):
        raise InputError(name, f"top returned a {type(found).__name__}", "expected a torch.nn.Module")


def _penalty(
    name: str, found: Any, defense: Defense, sent: torch.Tensor, logits: torch.Tensor, context: Context
) -> None:
    if found is not None:
        checks.shaped(name, "penalty", found, (), torch.float32, sent.device)
        checks.follows(name, "penalty", found, logits)


def _backward(name: str, found: Any, defense: Defense, gradient: torch.Tensor, context: Context) -> None:
    checks.like(name, "backward", found, gradient)


def _gaussian(name: str, found: Any, defense: Defense, gradient: torch.Tensor, context: Context) -> None:
    if found is not None:
        checks.like(name, "gaussian", found[0], gradient)


def _decoded(name: str, found: Any, defense: Defense, probabilities: np.ndarray, state: Any) -> None:
    shape = (len(probabilities), found.shape[1] if np.ndim(found) == 2 else 0)
    checks.shaped(name, "to_class_probabilities", found, shape, probabilities.dtype, probabilities.device)
    checks.distributions(name, "to_class_probabilities", found)


def _drawn(name: str, found: Any, defense: Defense, state: Any, training: Training) -> None:
    if found is not None:
        shape = (len(training.labels), *([training.classes] if training.classes > 2 else []))
        checks.numbers(name, "drawn", found, shape, torch.float32, training.labels.device)


@dataclass(frozen=True)
class Defense(base.Defense):
    """A label defense; the label party runs all hooks, in the order in which they are called."""

    games: ClassVar[set[str]] = {"split"}

    @base.returns(_outputs)
    def outputs(self, classes: int) -> int:
        """The number of classes that the top model predicts."""
        return classes

    def begin(self, training: Training) -> Any:
        """Set up the defense before the first step; the result is the `state` of every later hook."""
        return None

    @base.returns(_top)
    def top(self, module: torch.nn.Module, width: int, training: Training) -> torch.nn.Module:
        """The label party's model in place of `module`, whose embeddings (B, width) cross the cut.

        Both map (embeddings, encoded rows) to logits (B, outputs), or (B, 1) if there are two. Initial weights come
        from torch's global generator, which the protocol seeds; noise of a step from `training`'s. For predictions on
        test rows the model is in evaluation mode.
        """
        return module

    @base.returns(checks.guarantee)
    def auc_bound(self, training: Training) -> float | None:
        """Upper bound on the AUC of any attack on a row's label, or None if the defense gives no guarantee.

        It bounds what all gradients released for the row reveal, over the whole training.
        """
        return None

    @base.returns(_soft_labels)
    def soft_labels(self, context: Context) -> torch.Tensor:
        """Soft labels (B, outputs) float32 that the batch is trained on: weights on the log-losses of the classes."""
        return one_hot(context.labels, context.training.outputs).float()

    @base.returns(_penalty)
    def penalty(self, sent: torch.Tensor, logits: torch.Tensor, context: Context) -> torch.Tensor | None:
        """A scalar added to the batch's mean loss, or None: of the embeddings `sent` (B, d) and of the top's logits.

        Its gradient at the cut is part of what `backward` gets.
        """
        return None

    @base.returns(_backward)
    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """The gradients (B, d) float32 that are released in place of the per-example gradients at the cut."""
        return gradient

    @base.returns(_gaussian)
    def gaussian(self, gradient: torch.Tensor, context: Context) -> tuple[torch.Tensor, float] | None:
        """The mean (B, d) of what `backward` releases, and the standard deviation of its independent Gaussian noise.

        None if it releases anything else. For audits only, by an auditor who knows both gradients that a row may have.
        """
        return None

    @base.returns(_decoded)
    def to_class_probabilities(self, probabilities: np.ndarray, state: Any) -> np.ndarray:
        """Class probabilities (N, classes), rows sum to 1, from the top model's probabilities (N, outputs)."""
        return probabilities

    @base.returns(_drawn)
    def drawn(self, state: Any, training: Training) -> torch.Tensor | None:
        """Log-likelihoods of the label from what was drawn once for each training row; None if nothing was.

        (n,) float32, of two classes the log-likelihood ratio of label 1 to label 0; of more (n, classes), each class's
        log-likelihood up to a constant of the row. For metrics only: it enters the truth, and no transcript.
        """
        return None
