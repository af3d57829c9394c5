"""Records of a training in split learning: what the feature party saw, and the true labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cutlayer.core.seeds import generator
from cutlayer.games.base.snapshot import flattened

from .coins import NONE
from .data import Data, days
from .tracked import Tracked

HINTS = 5  # known positives of each batch that an adversary may have


class Records:
    """The sampled batches of one training, its tracked records, and its bottom model at the end."""

    def __init__(self, wanted: Mapping[str, Any], data: Data) -> None:
        spaced = np.linspace(0, data.steps - 1, min(wanted["batches"], data.steps)).round().astype(int)
        requested = [step - 1 for step in wanted.get("at", []) if step <= data.steps]
        self._at, self._days, self._data = set(spaced.tolist()) | set(requested), list(days(data.phases)), data
        self.first_layer: bool = wanted.get("first_layer", False)
        self._last = wanted.get("last_layer", False)
        self._layer: torch.nn.Linear | None = None
        self._step = 0
        self._batches: list[dict[str, np.ndarray]] = []
        self._tracked = Tracked(data.tracked, len(data.train), data.device) if len(data.tracked) else None
        self._ratios = torch.zeros(len(data.train), dtype=torch.float64, device=data.device)
        self._with_ratios = False
        self.seen: dict[str, np.ndarray] = {}
        self.truth: dict[str, np.ndarray] = {}  # the same under every defense
        self.hidden: dict[str, np.ndarray] = {}  # of this training

    def follow(self, bottom: torch.nn.Module) -> None:
        """Keep what enters the bottom model's last linear layer, where the setup records it."""
        linear = [layer for layer in bottom.modules() if isinstance(layer, torch.nn.Linear)] if self._last else []
        if linear:
            self._layer = linear[-1]
            self._layer.register_forward_hook(self._entered)

    def _entered(self, layer: torch.nn.Module, inputs: tuple[torch.Tensor], output: torch.Tensor) -> None:
        if self.now:
            self._inputs = inputs[0].detach()

    @property
    def now(self) -> bool:
        """Whether the current batch is sampled."""
        return self._step in self._at

    @property
    def audited(self) -> bool:
        """Whether an auditor scores tracked records: some have coins of two classes."""
        return "coins" in self._data.truth and self._data.classes == 2

    def audit(self, rows: torch.Tensor, ratio: torch.Tensor | None) -> None:
        """Add a batch's log-likelihood ratios (B,) of label 1 to 0 to those of its rows; None: there are none."""
        if ratio is not None:
            self._ratios[rows] += ratio
            self._with_ratios = True

    def keep(
        self, rows: torch.Tensor, gradients: torch.Tensor, embeddings: torch.Tensor, first: torch.Tensor,
        loss: torch.Tensor,
    ) -> None:  # fmt: skip
        """Record a batch, places (B,) among the training rows, if it is sampled, and go on to the next."""
        if self.now:
            labels, coins = self._data.labels[rows].cpu().numpy(), self._data.coins[rows.cpu().numpy()]
            batch = {
                "gradients": gradients.cpu().numpy().copy(),  # a defense may release one tensor again and again
                "embeddings": embeddings.cpu().numpy(),
                "labels": labels,
                "batch_coins": coins,
                "losses": loss.cpu().numpy(),
                "steps": np.array(self._step + 1),
                "days": np.array(self._days[self._step]),
                "hints": _hints(np.where(coins == NONE, labels, 0), self._data.name, self._step),
            }
            if self.first_layer and first.grad is not None:
                batch["first_gradients"] = (len(labels) * first.grad).flatten(1).cpu().numpy()
            if self._layer is not None and self._layer.weight.grad is not None:
                whole = torch.cat([self._layer.weight.grad, self._layer.bias.grad[:, None]], dim=1)  # type: ignore
                batch |= {"last_inputs": self._inputs.cpu().numpy(), "last_gradient": whole.cpu().numpy()}
            self._batches.append(batch)
        if self._tracked:
            self._tracked.keep(rows, gradients)
        self._step += 1

    def finish(self, bottom: torch.nn.Module, drawn: np.ndarray, outputs: int) -> None:
        """Stack the records into the transcript's arrays, and the true labels for metrics."""
        stacked = {name: np.stack([batch[name] for batch in self._batches]) for name in self._batches[0]}
        self.truth, coins = {"labels": stacked.pop("labels")}, stacked.pop("batch_coins")
        self.truth |= {"batch_coins": coins.astype(np.int8)} if (coins != NONE).any() else {}
        self.hidden = {"losses": stacked.pop("losses"), "outputs": np.array(outputs)}
        self.seen = stacked | {
            "snapshots": flattened(bottom)[None],
            "architecture": drawn,
            "outputs": np.array(outputs),
        }
        if self._with_ratios:
            self.hidden["auditor"] = self._ratios.cpu().numpy()[self._data.tracked]
        if self._tracked:
            self.seen |= self._tracked.finish([len(phase.batches) for phase in self._data.phases])


def _hints(labels: np.ndarray, *name: object) -> np.ndarray:
    """Places of up to HINTS random positives of a batch; -1 where there are fewer."""
    positives = generator(*name, "hints").permutation(np.flatnonzero(labels == 1))[:HINTS]
    return np.pad(positives, (0, HINTS - len(positives)), constant_values=-1)
