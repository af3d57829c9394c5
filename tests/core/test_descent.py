"""Steps without torch's notes are torch's steps, bit by bit."""

import copy

import pytest
import torch
from torch import nn

from cutlayer.core import descent

OPTIMIZERS = {
    "adam": lambda parameters: torch.optim.Adam(parameters, 0.01, fused=True),
    "adam, one by one": lambda parameters: torch.optim.Adam(parameters, 0.01),
    "sgd": lambda parameters: torch.optim.SGD(parameters, 0.01),
}


@pytest.mark.parametrize("made", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_steps_are_torchs(made):
    draw = torch.Generator().manual_seed(0)
    x, wanted = torch.randn(5, 16, 4, generator=draw), torch.randn(5, 16, 2, generator=draw)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        ours = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    theirs, start = copy.deepcopy(ours), copy.deepcopy(ours)
    own, other = made(ours.parameters()), made(theirs.parameters())
    for rows, targets in zip(x, wanted, strict=True):
        descent.descend(own, (ours(rows) - targets).square().mean())
        other.zero_grad()
        (theirs(rows) - targets).square().mean().backward()
        other.step()
    for mine, torchs, before in zip(ours.parameters(), theirs.parameters(), start.parameters(), strict=True):
        assert torch.equal(mine, torchs)
        assert torch.equal(mine.grad, torchs.grad)
        assert not torch.equal(mine, before)
    descent.forget(own)
    assert all(parameter.grad is None for parameter in ours.parameters())
