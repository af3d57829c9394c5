"""Gradients of two classes as two Gaussians, and Gaussian noise that depends on the class and on their difference.

Li et al., "Label Leakage and Protection in Two-party Split Learning", 4.2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from ..gradient_noise import GradientNoise
from .base import Training


class Gaussians(NamedTuple):
    """Two classes of gradients, each spread alike in all directions."""

    negative: float  # variance in a coordinate
    positive: float
    difference: torch.Tensor  # (d,) float64: the positives' mean less the negatives'
    gap: float  # its squared norm
    share: float  # of positives


def estimated(gradient: torch.Tensor, positive: torch.Tensor) -> Gaussians:
    """The most likely Gaussians for gradients (B, d) of which some, not all, are positives' (B,)."""
    member = torch.stack((~positive, positive)).float()
    counts = member.sum(dim=1)
    means = member @ gradient / counts[:, None]
    apart = torch.addmm(gradient, member.T, means, alpha=-1)
    squares = torch.linalg.vector_norm(apart, dim=1, dtype=torch.float64).square()  # may be below single's least
    negative, positives = (member.double() @ squares / counts / gradient.shape[1]).tolist()
    difference = (means[1] - means[0]).double()
    gap, share = float(difference.square().sum()), float(counts[1]) / len(gradient)
    return Gaussians(negative, positives, difference, gap, share)


def perturbed(
    gradient: torch.Tensor, positive: torch.Tensor, model: Gaussians, noise: GradientNoise, training: Training
) -> torch.Tensor:
    """Add a number times the difference's direction to each row, a vector to the rows of a class with noise across."""
    sent = gradient.addr(_along(positive, noise, training), _direction(model))
    for rows, variance in ((~positive, noise.negative_across), (positive, noise.positive_across)):
        if variance:
            places = rows.nonzero()[:, 0]
            across = training.randn(len(places), gradient.shape[1])
            sent.index_add_(0, places, across, alpha=math.sqrt(variance))
    return sent


def _along(positive: torch.Tensor, noise: GradientNoise, training: Training) -> torch.Tensor:
    """(B,): what a row gets along the difference beyond what it gets in every direction."""
    negatives = math.sqrt(max(0.0, noise.negative_along - noise.negative_across))
    positives = math.sqrt(max(0.0, noise.positive_along - noise.positive_across))
    return torch.where(positive, positives, negatives) * training.randn(len(positive))


def _direction(model: Gaussians) -> torch.Tensor:
    """(d,) of length 1; any where the means are equal, for then the noise is alike in all directions."""
    if model.gap:
        return (model.difference / math.sqrt(model.gap)).float()
    return torch.nn.functional.one_hot(torch.tensor(0), len(model.difference)).to(model.difference.device).float()
