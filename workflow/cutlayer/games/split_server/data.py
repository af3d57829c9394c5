"""Who holds what in the split_server protocol: training, test and auxiliary rows, and what poisons the training."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from cutlayer.core.seeds import seed_of
from cutlayer.games.attributes.data import AttributeData, common, rows_of
from cutlayer.games.base.protocol import Task

PARTS = (4, 1, 2)  # training : test : auxiliary, as in the paper
KEPT = 2**27  # pixels that are encoded once for all steps, half a gigabyte


@dataclass(frozen=True, kw_only=True)
class ServerData(AttributeData):
    """Of the rows that train the attacker's own are last."""

    known: np.ndarray  # the auxiliary rows
    poison: np.ndarray  # (p,) the attacker's own rows among those that train; taken from the auxiliary rows

    def encode(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
        """What the encoder takes, of some training rows."""
        if self._encoded:
            return {name: tensor[rows] for name, tensor in self._encoded.items()}
        return self.encode_table(self.train[rows.cpu().numpy()])

    def batches(self, task: Task, epoch: int) -> list[torch.Tensor]:
        """Places among the training rows in shuffled batches (B,) of one size; what is left over is dropped."""
        order = torch.Generator().manual_seed(seed_of(task.origin, task.seed, "order", epoch))
        size = min(task.settings["batch"], len(self.train))
        shuffled = torch.randperm(len(self.train), generator=order).to(self.device)
        return [batch for batch in shuffled.split(size) if len(batch) == size]

    @cached_property
    def _encoded(self) -> dict[str, torch.Tensor]:
        """Of all training rows, once; nothing if they are too many images for that."""
        pixels = len(self.train) * int(np.prod(self.features.shape[1:]))
        return self.encode_table(self.train) if self.features.ndim == 2 or pixels <= KEPT else {}


def prepared(task: Task) -> ServerData:
    """Split the rows 4 : 1 : 2; with `poison`, so large a share of the training rows is the attacker's own."""
    rows = rows_of(task)
    ends = np.cumsum(PARTS) * len(rows) // sum(PARTS)
    train, test, known = np.split(rows, ends[:-1])
    share = task.settings.get("poison", 0.0)
    poison = known[: round(share / (1 - share) * len(train))]
    return ServerData(**common(task, np.concatenate([train, poison]), test), known=known, poison=poison)
