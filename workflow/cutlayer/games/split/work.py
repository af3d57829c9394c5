"""How much work a setup of the split protocol is, told from its sizes alone, and the same setup with less of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

WIDER = 8  # times as much
Settings = Mapping[str, Any]


def amounts(settings: Settings, facts: Settings) -> dict[str, float]:
    """What the time of one training grows with; `facts` are those of the normalised data."""
    return {"steps": float(_steps(settings, facts))}


def small(settings: Settings, facts: Settings, steps: int) -> dict[str, Any]:
    """The setup with so few training rows that an epoch has so many steps, and one epoch."""
    if "stream" in settings:
        batches = math.ceil(steps / (_days(settings, facts) - 1))
        return {**settings, "rows": min(batches * settings["batch"], _of_a_day(settings, facts))}
    rows = math.ceil(steps * settings["batch"] / (1 - settings["test_share"])) + 1
    return {**settings, "rows": min(rows, _rows(settings, facts)), "epochs": 1}


def wider(settings: Settings, facts: Settings, steps: int) -> dict[str, Any]:
    """What attacks are tried on besides what `small` makes: more batches."""
    return small(settings, facts, WIDER * steps)


def more(settings: Settings, facts: Settings, amount: str, times: int) -> dict[str, Any]:
    """What `small` made, with so many times the steps; `facts` are of all rows."""
    key = "rows" if "stream" in settings else "epochs"
    return {**settings, key: times * settings[key]}


def timed(settings: Settings, facts: Settings) -> float:
    """How many steps the protocol's `stepper` takes at a time."""
    return 1.0


def cases(settings: Settings, facts: Settings, attack: Settings, target: str) -> float:
    """What the time of an attack grows with, besides its own epochs and steps: the batches it is tried on."""
    if target == "population":
        return 1.0
    kept = _kept(settings, facts)
    return float(min(attack.get("batches") or kept, kept) if target == "dimension" else kept)


def entries(settings: Settings, facts: Settings) -> dict[str, float]:
    """How many entries the arrays of transcript and truth have that grow with the setup, by name."""
    kept, own = float(_kept(settings, facts)), settings.get("known", {})
    batches = ("gradients", "embeddings", "first_gradients", "hints", "labels", "losses", "steps", "days")
    found = dict.fromkeys(batches, kept)
    if "rows" in own:
        test = _rows(settings, facts) - _train(settings, facts)
        found["attacked"] = found["attacked_labels"] = float(min(own["attacked"], test))
        found["features"] = min(own["rows"], _train(settings, facts)) + found["attacked"]
    return found | _of_tracked(settings, facts)


def _of_tracked(settings: Settings, facts: Settings) -> dict[str, float]:
    """Entries of what is kept of watched rows, in each phase, and of every batch."""
    rows = float(min(settings.get("known", {}).get("watched", 0), _train(settings, facts)))
    if not rows:
        return {}
    phases = _days(settings, facts) - 1 if "stream" in settings else settings["epochs"]
    every = dict.fromkeys(("batch_means", "batch_squares"), float(_steps(settings, facts)))
    each = dict.fromkeys(("watched_rows", "watched_features", "watched_labels"), rows)
    return {"watched_gradients": phases * rows, "watched_steps": phases * rows} | every | each


def _kept(settings: Settings, facts: Settings) -> int:
    """Batches in the transcript."""
    wanted, steps = settings["records"], _steps(settings, facts)
    return min(wanted["batches"], steps) + len([at for at in wanted.get("at", []) if at <= steps])


def _steps(settings: Settings, facts: Settings) -> int:
    if "stream" in settings:
        return (_days(settings, facts) - 1) * _batches(_of_a_day(settings, facts), settings)
    return settings["epochs"] * _batches(_train(settings, facts), settings)


def _batches(rows: int, settings: Settings) -> int:
    return rows // min(settings["batch"], rows)


def _train(settings: Settings, facts: Settings) -> int:
    rows = _rows(settings, facts)
    return rows - round(settings.get("test_share", 0) * rows)


def _rows(settings: Settings, facts: Settings) -> int:
    return min(settings.get("rows", facts["rows"]), facts["rows"])


def _days(settings: Settings, facts: Settings) -> int:
    return len(facts["counts"][settings["stream"]])


def _of_a_day(settings: Settings, facts: Settings) -> int:
    each = facts["rows"] // _days(settings, facts)
    return min(settings.get("rows", each), each)
