"""tcpo: searches the Pareto front of utility loss and leakage, and never increases leakage above a threshold.

Before anything is released the encoder is trained until L_p is at most the threshold. Then each step follows
d = G beta, with beta of equation (12) for the gradients G = (g_u, g_p) of the batch and the preference r = (1, 0), see
`pareto`. The Pareto front counts as reached when the gradients, averaged over steps, are nearly opposed. Where no
direction is left the encoder is not updated on that batch.

With `sgd` a step is along -d, so that L_p above the threshold does not increase to first order. The paper uses Adam,
which scales each coordinate and has momentum, and gives no such guarantee; `report` has how often it is violated. That
L_p is that of the batch; with `rows` it is nearer to that of all rows, see `_leakage`. Lines 11 and 12 estimate the
features on their axes with Gaussian kernels: with `widening: kernels` their bandwidth replaces the noise's variance,
except in the pre-training, for which line 5 defines it otherwise.

The bound at the threshold (`auc_bound`) is on one release with noise, and assumes features that are Gaussian for each
value of the attribute. A row has one release per epoch, the paper's attacks observe f(x) itself, and L_p is not at the
threshold in most steps: none of the three holds.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch

from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.games.split_server.defense import ClientsContext, Context, Defense, Descent
from cutlayer.theory.tcpo import auc_bound

from ._leakage import Leakage
from ._pretraining import pretrained
from ._search import Search


@dataclass(frozen=True)
class Tcpo(Defense):
    """Trajectory-controlled Pareto optimal search."""

    watches: ClassVar[bool] = True
    about: ClassVar[str] = "class"
    limits: ClassVar[Limits] = {
        "threshold": (0, None), "front": (-1, 1), "averaging": (0, 0.9999), "components": (1, None),
        "rows": (0, None), "pretraining": (0, None), "pretraining_rate": (0, None), "descent_rate": (0, None),
    }  # fmt: skip

    threshold: float = 0.005  # Th
    optimizer: Literal["adam", "sgd"] = "adam"
    front: float = -0.98  # the cosine of the averaged gradients below which the front is reached
    averaging: float = 0.9  # how much of the averaged gradients is kept from step to step
    components: int = 16  # principal axes, at most
    rows: int = 0  # that L_p is taken of, drawn anew at each step; 0: the batch
    widening: Literal["noise", "kernels"] = "noise"  # of the classes' covariances
    pretraining: int = 5000  # steps at most
    pretraining_rate: float = 0.001  # with Adam
    descent_rate: float = 0.1  # of `sgd`

    def descent(self, rate: float) -> Descent:
        """Adam at the setup's rate, or plain gradient descent at its own."""
        return self.optimizer, self.descent_rate if self.optimizer == "sgd" else rate

    def begin(self, clients: ClientsContext) -> Search:
        """Pre-train the encoder until L_p is at most the threshold.

        Raises:
            InputError: L_p is still over the threshold after `pretraining` steps.

        """
        with_noise = Leakage(clients, self.components, self.rows)
        steps, value = pretrained(with_noise, self.threshold, self.pretraining_rate, self.pretraining)
        if value > self.threshold:
            wrong = f"L_p is still {value:.2g} after {steps} steps of pre-training, the threshold is {self.threshold:g}"
            raise InputError("defense.tcpo", wrong, "more `pretraining`, a higher rate of it, or a higher threshold")
        leakage = Leakage(clients, self.components, self.rows, self.widening == "kernels")
        return Search(leakage, self.threshold, self.front, self.averaging, steps)

    def auc_bound(self, clients: ClientsContext) -> float:
        """Bound on the AUC from one release at the threshold, under the assumptions named above."""
        shares = clients.attribute.bincount(minlength=clients.values).double() / len(clients.attribute)
        return auc_bound(self.threshold, shares.cpu().numpy())

    def update(self, utility: torch.Tensor, features: torch.Tensor, context: Context) -> bool:
        """Set the encoder's gradient to the search direction d."""
        privacy = context.state.leakage(features, context.rows)
        losses = context.loss, float(privacy.detach())
        step = context.state.direction(losses, (utility, privacy), context.clients.parameters)
        if step is None:
            return False
        for parameter, part in zip(context.clients.parameters, step, strict=True):
            parameter.grad = part
        return True

    def moved(self, before: list[torch.Tensor], context: Context) -> None:
        """Count whether the step increases L_p to first order."""
        context.state.moved(before, context.clients.parameters)

    def report(self, state: Search) -> dict[str, np.ndarray | float]:
        """L_p by step, shares of steps that violate a guarantee, and the steps of pre-training."""
        return state.report()
