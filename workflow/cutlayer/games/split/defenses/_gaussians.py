"""Gaussian model of the gradients of two classes, and class-dependent Gaussian noise along their mean difference.

Few operations on few copies, so that all of it costs little compared with drawing the noise.

Li et al., "Label Leakage and Protection in Two-party Split Learning", 4.2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from cutlayer.games.split.defense import Training
from cutlayer.gradient_noise import GradientNoise

# Where the squares of single precision keep their digits; beyond, double is taken.
SAFE = 1e-24, 1e30


class Gaussians(NamedTuple):
    """Isotropic Gaussians of the gradients of two classes."""

    negative: float  # variance in a coordinate
    positive: float
    difference: torch.Tensor  # (d,) the positives' mean less the negatives'
    gap: float  # its squared norm
    share: float  # of positives


def estimated(gradient: torch.Tensor, member: torch.Tensor) -> Gaussians | None:
    """Maximum-likelihood isotropic Gaussians of the gradients (B, d) of two classes; None if a class is missing.

    `member` (2, B) is 1 where an example is of the class, else 0.
    """
    counts = member.sum(dim=1, keepdim=True)
    negatives, positives = counts.flatten().tolist()
    if not negatives or not positives:
        return None
    means = (member @ gradient).div_(counts)
    squares = member @ torch.addmm(gradient, member.T, means, alpha=-1).square_()
    difference = means[1] - means[0]
    (u, v), gap = squares.sum(dim=1).tolist(), float(difference.dot(difference))
    if gradient.dtype == torch.float32 and not SAFE[0] < max(u, v, gap) < SAFE[1]:
        return estimated(gradient.double(), member.double())
    d = gradient.shape[1]
    return Gaussians(u / negatives / d, v / positives / d, difference, gap, positives / (negatives + positives))


def perturbed(
    gradient: torch.Tensor, member: torch.Tensor, model: Gaussians, noise: GradientNoise, training: Training
) -> torch.Tensor:
    """Gradients (B, d) with noise along the mean difference and, for a class that has it, noise orthogonal to it."""
    sent = gradient.addr(_along(member[1], noise, training), _direction(model))
    for own, variance in zip(member, (noise.negative_across, noise.positive_across), strict=True):
        if variance:
            places = own.nonzero()[:, 0]
            across = training.randn(len(places), gradient.shape[1])
            sent.index_add_(0, places, across, alpha=math.sqrt(variance))
    return sent


def _along(positive: torch.Tensor, noise: GradientNoise, training: Training) -> torch.Tensor:
    """Noise (B,) along the mean difference, in addition to that in all directions."""
    negatives = math.sqrt(max(0.0, noise.negative_along - noise.negative_across))
    positives = math.sqrt(max(0.0, noise.positive_along - noise.positive_across))
    return (positive * (positives - negatives) + negatives) * training.randn(len(positive))


def _direction(model: Gaussians) -> torch.Tensor:
    """The unit vector (d,) along the mean difference; any if the means are equal, as the noise is isotropic then."""
    if model.gap:
        return (model.difference / math.sqrt(model.gap)).float()
    return torch.nn.functional.one_hot(torch.tensor(0), len(model.difference)).to(model.difference.device).float()


def mean_square(gradient: torch.Tensor) -> float:
    """The mean squared norm of the gradients (B, d)."""
    return float(gradient.double().square().sum(dim=1).mean())
