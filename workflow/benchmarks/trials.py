"""Helpers for benchmarks: a training at scale reference, an attack on it, and means over seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from cutlayer.data import normalised as datasets
from cutlayer.data.datasets.base import Table
from cutlayer.games.base.protocol import Outcome, Protocol
from cutlayer.ledger.statistics import interval
from cutlayer.plan import plugins
from cutlayer.plan.plan import Plan
from cutlayer.stages.scores import measured

ROOT = Path(__file__).parents[2]


def at_scale(scale: str) -> Plan:
    """What params.yaml says at a scale."""
    return Plan(yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8")) | {"scale": scale})


def reference() -> Plan:
    """The plan of scale reference."""
    return at_scale("reference")


def read(dataset: str) -> Table:
    """A dataset that `make data` made."""
    return datasets.read(ROOT / "data/normalised", dataset)[0]


def attacked(
    plan: Plan, protocol: Protocol, outcome: Outcome, setting: str, attack: str, who: tuple[str, str, int],
    device: str = "cpu",
) -> list[dict[str, Any]]:  # fmt: skip
    """The rows of an attack's scores on one setting of a run; who: (setup, defense, seed)."""
    method = plugins.create("attack", *plugins.used(plan.attacks[attack]))
    setup, defense, seed = who
    seen = outcome.shared | outcome.transcripts[setting]
    return measured(method, protocol, outcome.truth, device, seen, (setup, defense, setting, attack, seed))


def spelled(values: list[float], mean: str = ".3f", half: str = ".3f") -> str:
    """Mean and half the 95% interval, each in a format."""
    middle, low, high = interval(values)
    return f"{middle:{mean}} ± {(high - low) / 2:{half}}"
