"""Pre-training of the encoder until L_p is below a threshold, before anything is released.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", algorithm 1, lines 2 to 7.
"""

from __future__ import annotations

import torch

from cutlayer.core.descent import descend, forget

from ._leakage import Leakage


def pretrained(leakage: Leakage, threshold: float, rate: float, most: int) -> tuple[int, float]:
    """Pre-train; return the steps taken and the last L_p, above the threshold if `most` steps are not enough."""
    optimizer, steps = torch.optim.Adam(leakage.clients.parameters, rate, fused=True), 0
    while float((loss := leakage.drawn()).detach()) > threshold and steps < most:
        descend(optimizer, loss)
        steps += 1
    forget(optimizer)
    return steps, float(loss.detach())
