"""The clients alone lower L_p to a threshold, before anything is sent.

A step lowers the L_p of a few batches, on their own axes: those of all rows hardly change from step to step, and the
encoder would learn to leak on others, while one batch's noise would keep it above low thresholds. What is held against
the threshold is the L_p of all rows.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", algorithm 1, lines 2 to 7.
"""

from __future__ import annotations

import torch

from ._leakage import Leakage

BATCHES = 4  # of a step
BETWEEN = 10  # steps from one look at L_p to the next


def pretrained(leakage: Leakage, threshold: float, rate: float, least: int, most: int) -> tuple[int, float]:
    """(steps taken, L_p at the end), which is above the threshold if `most` steps are not enough.

    After `least` steps L_p is looked at every BETWEEN steps.
    """
    optimizer = torch.optim.Adam(leakage.clients.parameters, rate, fused=True)
    value, step = _of_all(leakage), 0
    while step < most and (step < least or value > threshold):
        optimizer.zero_grad()
        leakage.loss(torch.cat([leakage.clients.batch() for _ in range(BATCHES)])).backward()
        optimizer.step()
        step += 1
        if step == most or (step >= least and step % BETWEEN == 0):
            value = _of_all(leakage)
    optimizer.zero_grad()
    return step, value


@torch.no_grad()
def _of_all(leakage: Leakage) -> float:
    return float(leakage.loss(leakage.drawn()))
