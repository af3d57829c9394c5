"""The clients alone lower L_p to a threshold, before anything is sent.

L_p is checked on moments of the encoder as it is: while it learns, the running ones lag behind.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", algorithm 1, lines 2 to 7.
"""

from __future__ import annotations

import math

import torch

from ..adam import Adam
from ._leakage import Leakage
from .base import Clients

FILLED = 3.0  # mean lives of a batch in the moments: how many a check takes
BETWEEN = 1.0  # of steps from one check to the next


def pretrained(clients: Clients, leakage: Leakage, threshold: float, rate: float, most: int) -> tuple[int, float]:
    """(steps taken, L_p at the end), which is above the threshold if `most` steps are not enough."""
    optimizer = Adam(clients.parameters, rate, fused=True)
    life = 1 / (1 - leakage.decay)
    value, checked = _measured(clients, leakage, math.ceil(FILLED * life)), 0
    for step in range(most):
        if value <= threshold:
            return step, value
        running = _step(clients, leakage, optimizer)
        last = step + 1 == most
        if last or (running <= threshold and step + 1 - checked >= BETWEEN * life):
            value, checked = _measured(clients, leakage, math.ceil(FILLED * life)), step + 1
    return most, value


def _step(clients: Clients, leakage: Leakage, optimizer: Adam) -> float:
    """The running L_p with a batch, and one step to lower it."""
    rows = clients.batch()
    value, scalar = leakage(clients.features(rows), clients.attribute[rows])
    optimizer.zero_grad()
    scalar.backward()
    optimizer.step()
    optimizer.zero_grad()
    return value


@torch.no_grad()
def _measured(clients: Clients, leakage: Leakage, batches: int) -> float:
    """L_p on new axes and moments of the encoder as it is."""
    leakage.restart()
    value = 0.0
    for _ in range(batches):
        rows = clients.batch()
        value, _scalar = leakage(clients.features(rows), clients.attribute[rows])
    return value
