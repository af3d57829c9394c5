"""Our Adam is torch's, to the bit, without the second that torch's optimizer class takes to be imported."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch


def trained(make) -> list[torch.Tensor]:
    torch.manual_seed(0)
    weights = [torch.randn(5, 3, requires_grad=True), torch.randn(7, requires_grad=True), torch.zeros(2)]
    optimizer = make(weights)
    for _ in range(20):
        optimizer.zero_grad()
        (weights[0].square().sum() + (weights[1] - 2).pow(4).sum()).backward()
        optimizer.step()
    return [weight.detach() for weight in weights]


@pytest.mark.parametrize("fused", [False, True])
def test_steps_are_those_of_torch(fused):
    ours = trained(lambda weights: Adam(weights, 0.01, fused))
    theirs = trained(lambda weights: torch.optim.Adam(weights[:2], lr=0.01, fused=fused))
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))


def test_a_step_imports_no_compiler():
    code = (
        "import sys, torch; from cutlayer.adam import Adam; w = torch.ones(1, requires_grad=True); o = Adam([w], 0.1);"
        "o.zero_grad(); w.sum().backward(); o.step(); sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
