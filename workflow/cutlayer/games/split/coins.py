"""Coins: fair random labels that training rows get in place of their own, so that features say nothing of them.

What an attack infers of a coin is inferred from what was sent, and can be held against any bound on it. The adversary
does not know which rows have coins. They are none of those that are tested on, nor, unless all rows have coins, of
those whose labels it knows, which are true in any case.

Steinke, Nasr, Jagielski, "Privacy Auditing with One (1) Training Run", whose coins say whether a row is trained on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from cutlayer.core.seeds import generator
from cutlayer.games.base.protocol import Task

from .defense import Context, Defense

SHARE = 0.2  # of the training rows, at most: with more the model is another one
NONE = -1  # in place of a coin


def tossed(task: Task, rows: int, tracked: np.ndarray, known: np.ndarray) -> np.ndarray:
    """The coin (n,) int64 of each of so many training rows, NONE where there is none.

    With `coins: all` every row has one, else up to so many tracked records, and at most a SHARE of the rows. `tracked`
    (W,) and `known` are places among the rows.
    """
    wanted = task.settings.get("coins", 0)
    unknown = tracked[~np.isin(tracked, known)]
    places = np.arange(rows) if wanted == "all" else unknown[: min(wanted, int(SHARE * rows))]
    found = np.full(rows, NONE)
    found[places] = generator(task.origin, task.seed, "coins").integers(task.table.classes, size=len(places))
    return found


def audited(coins: np.ndarray) -> dict[str, np.ndarray]:
    """Truth of an audit from the coins (W,) of tracked records: `coins` (m,) int8, their `coin_places` (m,)."""
    places = np.flatnonzero(coins != NONE)
    return {"coins": coins[places].astype(np.int8), "coin_places": places} if len(places) else {}


def log_ratio(
    defense: Defense, loss: Callable[[torch.Tensor, int], torch.Tensor], sent: torch.Tensor, received: torch.Tensor,
    context: Context,
) -> torch.Tensor | None:  # fmt: skip
    """Log-likelihood ratio (B,) float64 of label 1 to 0 of each row's release, to who knows both of its gradients.

    None unless all that the defense adds is Gaussian noise. `loss(embeddings, label)` is that of each example.
    """
    if defense.gaussian(received, context) is None:
        return None
    means: list[Any] = []
    for label in (0, 1):
        inner = sent.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(inner, label).sum(), inner)
        mean, deviation = defense.gaussian(gradient, context) or (gradient, 1.0)
        means.append(mean)
    apart = (means[1] - means[0]).double()
    return ((received - (means[0] + means[1]) / 2) * apart).sum(dim=1) / deviation**2
