"""Looking up rows of a table gives torch's numbers and torch's gradient."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from cutlayer.games.split.models._tables import rows, sums


def looked_up(function, codes, size, width):
    torch.manual_seed(0)
    table = torch.randn(size, width, requires_grad=True)
    found = function(table, codes)
    found.backward(torch.randn(found.shape, generator=torch.Generator().manual_seed(1)))
    return found.detach(), table.grad


@pytest.mark.parametrize("width", [1, 4, 20])
@pytest.mark.parametrize(("ours", "columns"), [(rows, 0), (rows, 1), (rows, 26), (sums, 1), (sums, 26)])
def test_values_and_gradients_are_those_of_torch(ours, columns, width):
    def theirs(table, codes):
        found = functional.embedding(codes, table)
        return found if ours is rows else found.sum(dim=1)

    codes = torch.randint(30, (64, columns), generator=torch.Generator().manual_seed(2))  # many rows more than once
    for mine, other in zip(looked_up(ours, codes, 40, width), looked_up(theirs, codes, 40, width), strict=True):
        assert mine.dtype == torch.float32
        torch.testing.assert_close(mine, other)


def test_rows_not_looked_up_have_no_gradient():
    _, gradient = looked_up(sums, torch.tensor([[1, 3], [3, 3]]), 5, 2)
    assert [bool(row.any()) for row in gradient] == [False, True, False, True, False]


@pytest.mark.parametrize("function", [rows, sums])
def test_a_gradient_of_the_gradient_is_refused_rather_than_wrong(function):
    table = torch.randn(4, 2, requires_grad=True)
    (gradient,) = torch.autograd.grad(function(table, torch.tensor([[0]])).square().sum(), table, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()
