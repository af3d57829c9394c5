"""Tracked records: the rows whose gradients the feature party keeps across all epochs.

It sees every gradient of every batch. Tracking all rows would fill a disk; some hundreds show what an adversary who
keeps everything can do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from cutlayer.core.seeds import generator

TOGETHER = 64  # batches


def chosen(count: int, known: np.ndarray, train: np.ndarray, rows: int, origin: str) -> np.ndarray:
    """Places (W,) of `count` tracked records, or all, among the training rows (n,) of a table with so many rows.

    First those whose labels are known, as these are there to be used, then others in an order that all seeds of a
    setup share, so that most rows are tracked in each of them.
    """
    order = generator(origin, "watched").permutation(rows)
    place = np.full(rows, -1)
    place[train] = np.arange(len(train))
    others = place[order][place[order] >= 0]
    return np.concatenate([known, others[~np.isin(others, known)]])[:count]


class Tracked:
    """The gradients released for tracked records, and the mean and mean square of every batch.

    Batches wait until there are TOGETHER of them: searching many at once costs a fraction of many searches. They are
    copied at once, for a defense may release one tensor again and again.
    """

    def __init__(self, places: np.ndarray, training_rows: int, device: str) -> None:
        """`places` (W,) among the training rows."""
        self._number = torch.full((training_rows,), -1, device=device)
        self._number[torch.from_numpy(places).to(device)] = torch.arange(len(places), device=device)
        self._count, self._steps = len(places), 0
        self._waiting = 0
        self._rows = self._gradients = torch.empty(0)  # (TOGETHER, B), (TOGETHER, B, d): those that wait come first
        self._parts = list[tuple[np.ndarray, ...]]()

    def keep(self, rows: torch.Tensor, gradients: torch.Tensor) -> None:
        """Record a batch: places among the training rows (B,), and the gradients released for them (B, d)."""
        if rows.shape != self._rows.shape[1:]:
            self._extract()
            self._rows, self._gradients = (part.new_empty(TOGETHER, *part.shape) for part in (rows, gradients))
        self._rows[self._waiting], self._gradients[self._waiting] = rows, gradients
        self._waiting += 1
        if self._waiting == TOGETHER:
            self._extract()

    def _extract(self) -> None:
        if not self._waiting:
            return
        rows, gradients = self._rows[: self._waiting], self._gradients[: self._waiting]
        numbers = self._number[rows]
        step, place = (numbers >= 0).nonzero(as_tuple=True)
        squares = torch.linalg.vector_norm(gradients, dim=(1, 2), dtype=torch.float64).square_() / rows.shape[1]
        unit = squares.sqrt().float()[step, None]
        own = (gradients[step, place] / torch.where(unit > 0, unit, 1)).half()
        found = numbers[step, place], step + self._steps, own, gradients.mean(dim=1), squares
        self._parts.append(tuple(part.cpu().numpy() for part in found))
        self._steps, self._waiting = self._steps + len(rows), 0

    def finish(self, phases: Sequence[int]) -> dict[str, np.ndarray]:
        """The transcript's arrays of a training whose phases had so many batches each.

        - `watched_gradients` (phases, W, d) float16, each divided by the root of its batch's mean square, for single
          precision's range is not float16's; 0 where a row was in no batch of the phase
        - `watched_steps` (phases, W): in which batch, from 0; -1: in none
        - `batch_means` (T, d) and `batch_squares` (T,): each batch's mean gradient and its mean squared norm
        """
        self._extract()
        numbers, step, own, means, squares = map(np.concatenate, zip(*self._parts, strict=True))
        gradients = np.zeros((len(phases), self._count, means.shape[1]), dtype=np.float16)
        steps = np.full(gradients.shape[:2], -1, dtype=np.int32)
        phase = np.repeat(np.arange(len(phases)), phases)[step]
        gradients[phase, numbers], steps[phase, numbers] = own, step
        return {
            "watched_gradients": gradients, "watched_steps": steps, "batch_means": means, "batch_squares": squares,
        }  # fmt: skip
