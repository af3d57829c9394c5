"""dpfe: penalizes the mutual information of representation and attribute, estimated under a Gaussian assumption.

Each device trains the extractor and the task's classifier, whose cross-entropy stands for I(r; y). I(r; u) is estimated
on each batch, with noise of variance sigma^2 on the representations:

- `gaussian`: (log det S - sum_u p_u log det S_u) / 2, S and S_u the covariances of the batch and of its rows with the
  value u, plus sigma^2. It is 0 where mean and covariance are the same for all values; neither an upper nor a lower
  bound. With fewer rows than features it is far too high, for the rows of a batch of 10 are easily distinguished.
- `pairs`: sum over u_i != u_j of |r_i - r_j|^2 / (2 sigma^2 n^2), the divergences between the rows' Gaussians: an upper
  bound on what a noisy row of the batch, of n rows, reveals of its value.

The noise is in the estimates alone: the server sees representations without it, and an extractor may reduce both by
shrinking its representations, which hides nothing from an adversary who rescales them.

The paper says only that DPFE estimates the information by assuming Gaussians. DPFE bounds it by the divergences between
the values' distributions, and its authors' code trains with a contrastive loss of pairs: `pairs` is close to that. Its
reduction of the representation by PCA is left out: every method here has the same extractor.

Osia et al., "Deep Private-Feature Extraction"; Arroyo Arevalo et al., "Task-Agnostic Privacy-Preserving Representation
Learning for Federated Learning Against Attribute Inference Attacks", Discussion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from cutlayer.core.limits import Limits
from cutlayer.games.federated.defense import Defense


@dataclass(frozen=True)
class DPFE(Defense):
    """Deep private feature extraction: a closed-form penalty on the information about the attribute."""

    limits: ClassVar[Limits] = {"weight": (0, None), "sigma": (1e-3, None)}
    strength: ClassVar[str] = "weight"
    strengths: ClassVar[tuple[float, float]] = (0.01, 100.0)

    weight: float = 1.0
    sigma: float = 1.0
    estimate: Literal["gaussian", "pairs"] = "gaussian"

    @property
    def roles(self) -> Mapping[str, float]:
        """The task's classifier alone, with weight 1."""
        return {"task": 1.0}

    def regularizer(
        self, features: torch.Tensor, attribute: torch.Tensor, mask: torch.Tensor, values: int
    ) -> torch.Tensor:
        """The weight times the estimated information (D,), in nats."""
        scaled = features.flatten(2).double() / self.sigma
        if self.estimate == "pairs":
            found = pairs(scaled, attribute, mask)
        else:
            found = gaussian(scaled, attribute, mask, values)
        return (self.weight * found).to(features.dtype)


def gaussian(rows: torch.Tensor, attribute: torch.Tensor, mask: torch.Tensor, values: int) -> torch.Tensor:
    """Gaussian estimate (D,) of the information in rows (D, B, k) with unit noise, by B x B determinants."""
    same = attribute[:, None] == torch.arange(values, device=attribute.device)[:, None]
    groups = torch.cat([mask[:, None], same & mask[:, None]], dim=1).to(rows)  # (D, 1 + values, B): all, then by value
    counts = groups.sum(dim=2).clamp_min(1)
    center = groups.diag_embed() - groups[..., None] * groups[..., None, :] / counts[..., None, None]
    gram = center @ (rows @ rows.mT)[:, None] @ center / counts[..., None, None]
    entropies = torch.linalg.slogdet(gram + torch.eye(rows.shape[1]).to(rows)).logabsdet / 2
    shares = groups.sum(dim=2) / counts[:, :1]
    return entropies[:, 0] - (shares * entropies)[:, 1:].sum(dim=1)


def pairs(rows: torch.Tensor, attribute: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Pairwise upper bound (D,) on the information in rows (D, B, k) with noise of variance 1."""
    differ = (attribute[:, :, None] != attribute[:, None]) & mask[:, :, None] & mask[:, None]
    gram = rows @ rows.mT
    squares = gram.diagonal(dim1=1, dim2=2)
    distances = squares[:, :, None] + squares[:, None] - 2 * gram
    return (differ * distances).sum(dim=(1, 2)) / (2 * mask.sum(dim=1).clamp_min(1) ** 2)
