"""The descent direction of tcpo at each step, and statistics of the steps.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (12), algorithm 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch

from cutlayer.pareto import Pair, direction

from ._leakage import Leakage

UTILITY_FIRST = (1.0, 0.0)  # the preference r
ROUNDING = torch.finfo(torch.float32).eps


class Search:
    """The state of tcpo's Pareto search."""

    def __init__(self, leakage: Leakage, threshold: float, front: float, averaging: float, pretraining: int) -> None:
        self.leakage, self.threshold, self.front, self.averaging = leakage, threshold, front, averaging
        self.pretraining = pretraining  # steps
        self._average: torch.Tensor | None = None  # (2, P)
        self._privacy = torch.empty(0)  # (P,): g_p of the last step
        self._over = False
        self._steps: Counter[str] = Counter()

    def direction(
        self, losses: Pair, scalars: Sequence[torch.Tensor], parameters: list[torch.Tensor]
    ) -> list[torch.Tensor] | None:
        """The search direction d, a tensor for each parameter; None if there is none.

        The scalars' gradients are those of the losses; the order is (utility, privacy).
        """
        gradients = torch.stack([_flat(torch.autograd.grad(one, parameters, retain_graph=True)) for one in scalars])
        wide = gradients.double()
        products = wide @ wide.T
        at_front, self._over = self._at_front(gradients), losses[1] > self.threshold
        self._steps.update(all=1, threshold_broken=self._over, at_front=at_front)
        beta = direction(products.cpu().numpy(), losses, UTILITY_FIRST, at_front, self._over)
        if beta is None:
            self._steps["stopped"] += 1
            return None
        self._privacy = gradients[1]
        step = torch.from_numpy(beta).to(gradients) @ gradients
        return _parts(_guarded(step, self._privacy) if self._over else step, parameters)

    def moved(self, before: list[torch.Tensor], after: list[torch.Tensor]) -> None:
        """Count a step along which L_p increases to first order, by more than the rounding of the parameters."""
        start = _flat(before)
        moves = (_flat([p.detach() for p in after]) - start).double()
        noise = ROUNDING * self._privacy.abs() @ start.abs()
        ascent = float(self._privacy.double() @ moves - noise) > 0
        self._steps.update(privacy_ascent=ascent, guard_broken=ascent and self._over)

    def report(self) -> dict[str, np.ndarray | float]:
        """L_p by step and shares of the steps; `guard_broken`: L_p increases while it exceeds the threshold."""
        names = "threshold_broken", "privacy_ascent", "guard_broken", "at_front", "stopped"
        shares = {name: self._steps[name] / max(1, self._steps["all"]) for name in names}
        return {"leakage": np.array(self.leakage.trace), "pretraining_steps": float(self.pretraining), **shares}

    def _at_front(self, gradients: torch.Tensor) -> bool:
        """Whether the Pareto front is reached: the averaged gradients are nearly opposed."""
        if self._average is None:
            self._average = gradients.clone()
        else:
            self._average.lerp_(gradients, 1 - self.averaging)
        (uu, up), (_, pp) = (self._average @ self._average.T).tolist()
        return bool(up < self.front * np.sqrt(uu * pp))


def _guarded(step: torch.Tensor, privacy: torch.Tensor) -> torch.Tensor:
    """The step, with the multiple of g_p for which g_p'd >= 0 also holds after rounding."""
    wide = privacy.double()
    along, size = float(wide @ step.double()), float(wide @ wide)
    if along >= 0:
        return step
    margin = ROUNDING * float(wide.norm() * step.double().norm())
    return step + (margin - along) / size * privacy


def _flat(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """The tensors as one vector (P,)."""
    return torch.cat([one.reshape(-1) for one in tensors])


def _parts(flat: torch.Tensor, parameters: list[torch.Tensor]) -> list[torch.Tensor]:
    """The inverse of `_flat`, in the parameters' shapes."""
    parts = flat.split([p.numel() for p in parameters])
    return [part.view_as(p) for part, p in zip(parts, parameters, strict=True)]
