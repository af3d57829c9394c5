"""compressed: releases only the largest entries of the gradients, or their multiples of a coarse step.

- `keep` q below 1: of all entries of the batch's gradients (B, d) the share q that is largest in size stays, the others
  become 0 (gradient compression, sparsification).
- `bins` n above 0: each entry is rounded to a multiple of 2 b / n (DiscreteSGD). b is `limit` or, if that is 0, twice
  the standard deviation of the batch's entries. No entry is clamped, as in no code. A gradient is that of its row's own
  loss; the codes' limits are of the mean over a batch, and smaller by its size.

Both are functions of the gradients, without noise or a bound: who has several epochs of a row adds up what is left.
VFLAIR's code carries what it dropped over to the next batch by the place in the batch, and so to other rows; here
nothing is carried. b from the batch itself is ours: the codes fix it, by hand or after the first batch.

As in the codes of Fu et al., "Label Inference Attacks Against Vertical Federated Learning", and of Zou et al.,
"VFLAIR: A Research Library and Benchmark for Vertical Federated Learning".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.split.defense import Context, Defense


@dataclass(frozen=True)
class Compressed(Defense):
    """Sparse or quantized gradients."""

    limits: ClassVar[Limits] = {"keep": (1e-6, 1), "bins": (0, None), "limit": (0, None)}

    keep: float = 0.1  # the share of entries that are released
    bins: int = 0  # 0: entries are not rounded
    limit: float = 0.0  # b; 0: from the batch

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Gradients (B, d), sparse and then rounded."""
        sparse = kept(gradient, self.keep)
        return quantized(sparse, self.bins, self.limit) if self.bins else sparse


def kept(gradient: torch.Tensor, share: float) -> torch.Tensor:
    """Gradients (B, d) whose largest `share` of entries stays, the others being 0; ties are 0 too."""
    size = gradient.abs().flatten()
    dropped = len(size) - round(share * len(size))
    return gradient * (gradient.abs() > size.kthvalue(dropped).values) if dropped else gradient


def quantized(gradient: torch.Tensor, bins: int, limit: float) -> torch.Tensor:
    """Gradients (B, d) as multiples of 2 limit / bins; limit 0: twice the deviation of all entries."""
    step = 2 * (limit or 2 * float(gradient.double().std(correction=0))) / bins
    return (step * (gradient.double() / step).round()).float() if step else gradient
