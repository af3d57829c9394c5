"""max_norm: adds noise along each gradient, so that all gradients of a batch have the same expected squared norm.

g_j becomes (1 + eta_j) g_j with eta_j ~ N(0, sigma_j^2), sigma_j^2 = ||g_max||^2 / ||g_j||^2 - 1: the longest gradient
is released unchanged, the others change length and often sign, never their line.

A gradient that is 0 has no line, and stays 0. SecretFlow's code draws noise for each coordinate by itself, where the
paper scales the row.

Li et al., "Label Leakage and Protection in Two-party Split Learning", 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from cutlayer.games.split.defense import Context, Defense


@dataclass(frozen=True)
class MaxNorm(Defense):
    """Max-norm perturbation; no hyperparameters."""

    def backward(self, gradient: torch.Tensor, context: Context) -> torch.Tensor:
        """Gradients (B, d), each times a random factor.

        In double precision: a short gradient takes a factor that may be beyond single.
        """
        norms = gradient.double().norm(dim=1)
        sigma = (norms.max().square() / norms.square() - 1).sqrt().nan_to_num(posinf=0.0)
        factors = 1 + sigma * context.training.randn(len(gradient))
        return (factors[:, None] * gradient).float()
