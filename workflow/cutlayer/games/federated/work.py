"""How much work a setup of the federated protocol is, told from its sizes alone, and the same setup with less of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

TEST_SHARE = 0.2
WIDER = 8  # times as much
Settings = Mapping[str, Any]


def amounts(settings: Settings, facts: Settings) -> dict[str, float]:
    """What the time of one training grows with: its steps, those of its pre-training, the rows of the task's head."""
    steps = settings["local_epochs"] * _batches(settings, facts)
    return {
        "steps": float(settings["rounds"] * steps),
        "pretraining": float(settings["pretraining"] * steps),
        "rows": float(_train(settings, facts)),
    }


def small(settings: Settings, facts: Settings, steps: int) -> dict[str, Any]:
    """The setup with a tenth of the steps, if as many, in one round, and as few devices and rows as that takes."""
    count = _at_work(settings)
    own = min(_train(settings, facts) // settings["devices"], max(2, steps * settings["batch"] // 4))
    rows = max(math.ceil((count * own + count) / (1 - TEST_SHARE)), 50)
    ratio = min(1.0, rows / _rows(settings, facts))
    cut = {"rows": rows, "devices": count, "rounds": 1, "local_epochs": 1, "pretraining": 1}
    cut |= {"participation": 1.0, "participants": "selected"}  # as much work as those, or all, of more devices
    few = {
        "records": _cut(settings["records"], "attacked", ratio),
        "known": _cut(settings.get("known", {}), "rows", ratio),
    }
    return {**settings, **cut, **few}


def wider(settings: Settings, facts: Settings, steps: int) -> dict[str, Any]:
    """What attacks are tried on besides what `small` makes: more rows."""
    return small(settings, facts, WIDER * steps)


def more(settings: Settings, facts: Settings, amount: str, times: int) -> dict[str, Any]:
    """What `small` made, with so many times the steps, of the training or before it, or the rows."""
    if amount != "rows":
        key = {"steps": "rounds", "pretraining": "pretraining"}[amount]
        return {**settings, key: times * settings[key]}
    spread = {"devices": times * settings["devices"], "participation": settings["participation"] / times}
    return {**settings, **spread, "rows": times * settings["rows"]}


def timed(settings: Settings, facts: Settings) -> float:
    """How many steps the protocol's `stepper` takes at a time: those of a local epoch."""
    return float(_batches(settings, facts))


def cases(settings: Settings, facts: Settings, attack: Settings, target: str) -> float:
    """What the time of an attack grows with, besides its own epochs: batches of known rows, or devices."""
    if target == "attribute_by_device":
        return float(min(attack.get("devices") or settings["devices"], _trained(settings)))
    known = _known(settings, facts)
    return float(math.ceil(known / attack["batch"])) if "batch" in attack else known


def entries(settings: Settings, facts: Settings) -> dict[str, float]:
    """How many entries the arrays of transcript and truth have that grow with the setup, by name."""
    known, test = _known(settings, facts), _rows(settings, facts) * TEST_SHARE
    attacked = min(settings["records"].get("attacked", test), test)
    of_known = dict.fromkeys(("known", "inputs", "known_attribute", "known_labels"), known)
    of_attacked = dict.fromkeys(("attacked", "attribute", "labels", "attacked_inputs"), attacked)
    return of_known | of_attacked | {"inner": _trained(settings)}


def _cut(kept: Settings, key: str, ratio: float) -> dict[str, Any]:
    return {**kept, key: max(20, round(kept[key] * ratio))} if key in kept else dict(kept)


def _known(settings: Settings, facts: Settings) -> float:
    train = _train(settings, facts)
    return float(min(settings.get("known", {}).get("rows", train), train))


def _trained(settings: Settings) -> float:
    """How many devices train in some round, on average."""
    left_out = (1 - _at_work(settings) / settings["devices"]) ** settings["rounds"]
    return float(settings["devices"] * (1 - left_out))


def _batches(settings: Settings, facts: Settings) -> int:
    return math.ceil(_train(settings, facts) / settings["devices"] / settings["batch"])


def _at_work(settings: Settings) -> int:
    """How many devices train in a round."""
    if settings.get("participants", "selected") == "averaged":
        return int(settings["devices"])
    return max(1, round(settings["participation"] * settings["devices"]))


def _train(settings: Settings, facts: Settings) -> int:
    rows = _rows(settings, facts)
    return rows - round(TEST_SHARE * rows)


def _rows(settings: Settings, facts: Settings) -> int:
    return min(settings.get("rows", facts["rows"]), facts["rows"])
