"""Building blocks of model completion: the bottom model with a new head, MixMatch's loss, the averaged model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from cutlayer.games.base.encoded import Encoded, parts


class Completed(nn.Module):
    """A trained bottom model with a new head of `layers` linear layers, on embeddings that are normalized.

    `batch`: as in the official code, batch normalization and a ReLU come before each layer. Else the embeddings of the
    rows `own` are standardized once, and a ReLU is between layers.
    """

    def __init__(
        self, bottom: nn.Module, features: Encoded, own: np.ndarray, classes: int, layers: int, batch: bool,
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        super().__init__()
        self.bottom = bottom
        with torch.no_grad():
            embedded = torch.cat([bottom(part)[1] for part in parts(features, own)])
        width = embedded.shape[1]
        head: list[nn.Module] = [] if batch else [Standardized(embedded)]
        for layer in range(layers):
            head += [nn.BatchNorm1d(width)] if batch else []
            head += [nn.ReLU()] if batch or layer else []
            head.append(_linear(width, width if layer < layers - 1 else classes, rng))
        self.head = nn.Sequential(*head).to(embedded.device)
        self.mixes_inputs = all(tensor.is_floating_point() or not tensor.numel() for tensor in features.values())

    def forward(self, x: Encoded) -> Tensor:
        return self.head(self.bottom(x)[1])

    def mixed(self, x: Encoded, partner: Tensor, share: float) -> Tensor:
        """Logits of mixed examples: mixed as inputs if these are numbers, else at the cut; codes cannot be mixed."""
        if not self.mixes_inputs:
            return self.head(mix(self.bottom(x)[1], partner, share))
        return self({name: mix(t, partner, share) if t.is_floating_point() else t for name, t in x.items()})


class Standardized(nn.Module):
    """Subtracts the mean of the given rows (n, width) and divides by their deviation; constant columns keep theirs."""

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        variance = rows.var(dim=0, correction=0)
        self.mean, self.scale = rows.mean(dim=0), torch.where(variance > 0, (variance + 1e-5).rsqrt(), 1.0)

    def forward(self, x: Tensor) -> Tensor:
        return (x - self.mean) * self.scale


def _linear(inputs: int, outputs: int, rng: np.random.Generator) -> nn.Linear:
    """A linear layer initialized as torch does it, but from the given generator."""
    with torch.random.fork_rng(devices=[]):  # the layer's own draw is overwritten; skip_init would import sympy
        layer = nn.Linear(inputs, outputs)
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.copy_(torch.from_numpy(rng.uniform(-1, 1, parameter.shape) / inputs**0.5))
    return layer


def mixmatch(
    model: Completed, x: Encoded, target: Tensor, weight: float, temperature: float, alpha: float,
    rng: np.random.Generator,
) -> Tensor:  # fmt: skip
    """MixMatch's loss: cross-entropy of the labeled rows plus `weight` times the squared error of the unlabeled ones.

    The first rows of the batch are labeled by `target` (B, k); the others' targets are the model's own predictions,
    sharpened.
    """
    count = len(target)
    with torch.no_grad():
        guessed = (model({name: t[count:] for name, t in x.items()}) / temperature).softmax(dim=1)
    target = torch.cat([target, guessed])
    partner = torch.from_numpy(rng.permutation(len(target))).to(target.device)
    share = rng.beta(alpha, alpha)
    share = max(share, 1 - share)
    logits, target = model.mixed(x, partner, share), mix(target, partner, share)
    entropy = -(target[:count] * logits[:count].log_softmax(dim=1)).sum(dim=1).mean()
    return entropy + weight * (logits[count:].softmax(dim=1) - target[count:]).square().mean()


def mix(rows: Tensor, partner: Tensor, share: float) -> Tensor:
    """Mixup: the convex combination of each row (B, ...), weight `share`, and the row `partner` (B,) of the batch."""
    return torch.lerp(rows[partner], rows, share)


@torch.no_grad()
def update_average(average: nn.Module, model: nn.Module, decay: float) -> None:
    """Update an exponential moving average of a model's parameters and running statistics by one step."""
    for slow, fast in zip(average.state_dict().values(), model.state_dict().values(), strict=True):
        if fast.is_floating_point():
            slow.lerp_(fast, 1 - decay)


def batches(places: np.ndarray, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Batches of `size` places (all, if fewer) without end, shuffled at each pass; what is left over is dropped."""
    size = min(size, len(places))
    while True:
        shuffled = rng.permutation(places)
        yield from (shuffled[i : i + size] for i in range(0, len(places) - size + 1, size))


@torch.no_grad()
def probabilities(model: nn.Module, features: Encoded, places: np.ndarray) -> np.ndarray:
    """Class probabilities (m, k) float64 that a model predicts for some rows."""
    logits = torch.cat([model(part) for part in parts(features, places)])
    return logits.double().softmax(dim=1).cpu().numpy()
