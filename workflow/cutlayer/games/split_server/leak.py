"""Attacked views and utility metrics of split learning with an untrusted server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cutlayer.core.errors import InputError
from cutlayer.core.transcript import Arrays
from cutlayer.games.base.protocol import Case
from cutlayer.metrics.utility import utility as of_scores

AT_INFERENCE = (
    "known", "known_attribute", "known_mean", "attacked", "attacked_mean", "inputs", "values", "architecture",
)  # fmt: skip
IN_TRAINING = (
    "intercepted", "noise", "poison", "poison_attribute", "inputs", "known_attribute", "values", "architecture",
    "encoder", "defense",
)  # fmt: skip
SHOWN = 200  # steps of a training curve that are written
Attacked = str  # the name of the truth


def case(transcript: Arrays, target: str) -> tuple[Case, dict[str, np.ndarray], Attacked]:
    """The attacked view of a target: the stage, the arrays that the adversary sees, the attribute it infers."""
    inference = target == "attribute"
    seen = {name: transcript[name] for name in (AT_INFERENCE if inference else IN_TRAINING) if name in transcript}
    return {"stage": "inference" if inference else "training"}, seen, target


def utility(scores: np.ndarray, labels: np.ndarray) -> Iterator[dict[str, Any]]:
    """Test metrics of the server's classifier on released features; its utility is the accuracy."""
    found = {row["metric"]: row["value"] for row in of_scores(scores, labels)}
    found |= {"test_utility": found["test_accuracy"], "chance": found["task_majority"]}
    yield from ({"step": 0, "metric": metric, "value": value} for metric, value in found.items())


def course(losses: Sequence[float], report: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Training curves at evenly spaced steps: utility loss and the defense's report; and its numbers of the whole."""
    steps = np.linspace(0, len(losses) - 1, min(SHOWN, len(losses))).round().astype(int)
    for name, found in {"utility_loss": np.array(losses), **report}.items():
        if np.ndim(found) == 0:
            yield {"step": 0, "metric": name, "value": float(found)}
            continue
        if len(found) != len(losses):
            raise InputError("protocol.split_server", f"{name} has {len(found)} steps", f"{len(losses)} were made")
        yield from ({"step": int(step) + 1, "metric": name, "value": float(found[step])} for step in steps)
