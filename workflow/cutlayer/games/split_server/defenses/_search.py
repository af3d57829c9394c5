"""The steps of tcpo: gradients, direction, and what is noted of them.

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
    """What tcpo remembers from step to step."""

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
        """D, a tensor for each parameter, or None: there is no direction.

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
        """Count a step along which L_p rises to first order, by more than the rounding of the parameters can make."""
        start = _flat(before)
        moves = (_flat([p.detach() for p in after]) - start).double()
        noise = ROUNDING * self._privacy.abs() @ start.abs()
        ascent = float(self._privacy.double() @ moves - noise) > 0
        self._steps.update(privacy_ascent=ascent, guard_broken=ascent and self._over)

    def report(self) -> dict[str, np.ndarray | float]:
        """See `Tcpo.report`; `guard_broken` counts ascents over the threshold, among all steps."""
        names = "threshold_broken", "privacy_ascent", "guard_broken", "at_front", "stopped"
        shares = {name: self._steps[name] / max(1, self._steps["all"]) for name in names}
        return {"leakage": np.array(self.leakage.trace), "pretraining_steps": float(self.pretraining), **shares}

    def _at_front(self, gradients: torch.Tensor) -> bool:
        """Whether the averaged gradients are nearly opposed."""
        if self._average is None:
            self._average = gradients.clone()
        else:
            self._average.lerp_(gradients, 1 - self.averaging)
        (uu, up), (_, pp) = (self._average @ self._average.T).tolist()
        return bool(up < self.front * np.sqrt(uu * pp))


def _guarded(step: torch.Tensor, privacy: torch.Tensor) -> torch.Tensor:
    """The step, with as much of g_p as makes g_p'd >= 0 hold of the rounded numbers too."""
    wide = privacy.double()
    along, size = float(wide @ step.double()), float(wide @ wide)
    if along >= 0:
        return step
    margin = ROUNDING * float(wide.norm() * step.double().norm())
    return step + (margin - along) / size * privacy


def _flat(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """(P,)."""
    return torch.cat([one.reshape(-1) for one in tensors])


def _parts(flat: torch.Tensor, parameters: list[torch.Tensor]) -> list[torch.Tensor]:
    """The inverse of `_flat`, in the parameters' shapes."""
    parts = flat.split([p.numel() for p in parameters])
    return [part.view_as(p) for part, p in zip(parts, parameters, strict=True)]
