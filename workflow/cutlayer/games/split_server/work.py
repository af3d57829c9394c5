"""How much work a setup of the split_server protocol is, told from its sizes alone, and the same with less of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

PARTS = (4, 1, 2)  # training : test : auxiliary
WIDER = 4  # times as much
Settings = Mapping[str, Any]


def amounts(settings: Settings, facts: Settings) -> dict[str, float]:
    """What the time of one training grows with; `facts` are those of the normalised data."""
    return {"steps": float(settings["epochs"] * _steps(settings, facts))}


def small(settings: Settings, facts: Settings, steps: int) -> dict[str, Any]:
    """The setup with so few rows of each kind that an epoch has so many steps, and one epoch."""
    all_rows = _rows(settings, facts)
    rows = min(all_rows, math.ceil(steps * settings["batch"] * sum(PARTS) / PARTS[0]) + sum(PARTS))
    attacked = max(1, round(settings["records"]["attacked"] * rows / all_rows))
    return {**settings, "rows": rows, "epochs": 1, "records": {**settings["records"], "attacked": attacked}}


def wider(settings: Settings, facts: Settings, steps: int) -> dict[str, Any]:
    """What attacks are tried on besides what `small` makes: more rows, heard in more epochs, as not all that an attack
    does with a row is done for each epoch.
    """
    return {**small(settings, facts, WIDER * steps), "epochs": min(settings["epochs"], WIDER)}


def more(settings: Settings, facts: Settings, amount: str, times: int) -> dict[str, Any]:
    """What `small` made, with so many times the steps."""
    return {**settings, "epochs": times * settings["epochs"]}


def timed(settings: Settings, facts: Settings) -> float:
    """How many steps the protocol's `stepper` takes at a time."""
    return 1.0


def cases(settings: Settings, facts: Settings, attack: Settings, target: str) -> float:
    """What the time of an attack grows with, besides its own epochs: the batches it learns from, in every epoch that it
    listens to. A client sends at most so many of its rows through the encoders.
    """
    listens = target == "training_attribute"
    if attack.get("client"):
        rows = min(_part(settings, facts, 2), attack["most"])
    else:
        rows = _poison(settings, facts) if listens and "poison" in settings else _part(settings, facts, 2)
    batches = math.ceil(rows / attack["batch"]) if "batch" in attack else rows
    return float(batches * settings["epochs"] if listens else batches)


def entries(settings: Settings, facts: Settings) -> dict[str, float]:
    """How many entries the arrays of transcript and truth have that grow with the setup, by name."""
    epochs, heard = settings["epochs"], min(settings["records"]["attacked"], _part(settings, facts, 0))
    test, known = _part(settings, facts, 1), _part(settings, facts, 2)
    poison = _poison(settings, facts)
    found = {"intercepted": epochs * heard, "poison": epochs * poison, "encoder": epochs}
    found |= {"training_attribute": heard, "poison_attribute": poison}
    found |= {"known": known, "inputs": known, "known_attribute": known, "attacked": test, "attribute": test}
    found |= {"known_mean": known, "attacked_mean": test}  # where there is noise
    return {name: float(count) for name, count in found.items()}


def _steps(settings: Settings, facts: Settings) -> int:
    rows = _part(settings, facts, 0) + _poison(settings, facts)
    return rows // min(settings["batch"], rows)


def _poison(settings: Settings, facts: Settings) -> int:
    share = settings.get("poison", 0.0)
    return min(round(share / (1 - share) * _part(settings, facts, 0)), _part(settings, facts, 2))


def _part(settings: Settings, facts: Settings, which: int) -> int:
    return _rows(settings, facts) * PARTS[which] // sum(PARTS)


def _rows(settings: Settings, facts: Settings) -> int:
    """All rows that are asked for and there; a partition may allow fewer."""
    rows: int = min(settings.get("rows", facts["rows"]), facts["rows"])
    if "partition" in settings:
        own, *others = facts["counts"][settings["partition"]]
        whole, share = sum(PARTS), PARTS[1]
        rows = min(rows, whole * own // (whole - share), whole * sum(others) // share)
    return rows
