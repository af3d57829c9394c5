"""A run: every seed of one setup under one defense, from normalised data to transcripts."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import artifacts, plugins, transcript
from .datasets import read
from .progress import steps
from .protocols.base import Outcome, Protocol, Task


def settings_of(variant: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of a variant: label -> parameters. A variant without a sweep has one, labelled ""."""
    fixed = {key: value for key, value in variant.items() if key not in ("use", "sweep")}
    sweep = variant.get("sweep", {})
    points = itertools.product(*sweep.values())
    return {
        ",".join(f"{k}={v}" for k, v in zip(sweep, point, strict=True)): fixed | dict(zip(sweep, point, strict=True))
        for point in points
    }


def execute(
    setup: str,
    variant: str,
    settings: Mapping[str, Any],
    defense: Mapping[str, Any],
    data: str | Path,
    trained: Sequence[str | Path],
    folder: str | Path,
    seeds: Sequence[int],
) -> None:
    """Run every seed and write `seed<n>.{transcript,truth,learned}.safetensors` and `utility.csv` to `folder`.

    `trained` are the `learned` files of the undefended run, one a seed, for defenses that do not change training.
    """
    table, _ = read(data, settings["dataset"])
    protocol: Protocol = plugins.create("protocol", settings["protocol"])
    defenses = {label: plugins.create("defense", defense["use"], p) for label, p in settings_of(defense).items()}
    rows = []
    for index, seed in enumerate(steps(seeds, f"run {setup}/{variant}")):
        learned = artifacts.read_arrays(trained[index])[0] if trained else None
        outcome = protocol.run(Task(setup, variant, seed, table, settings, defenses, learned))
        _save(outcome, Path(folder), seed)
        rows += [{"setup": setup, "defense": variant, "seed": seed, **row} for row in outcome.utility]
    artifacts.write_rows(Path(folder) / "utility.csv", rows)


def _save(outcome: Outcome, folder: Path, seed: int) -> None:
    transcript.save(folder / f"seed{seed}.transcript.safetensors", outcome.transcripts, outcome.shared)
    artifacts.write_arrays(folder / f"seed{seed}.truth.safetensors", outcome.truth)
    artifacts.write_arrays(folder / f"seed{seed}.learned.safetensors", outcome.learned)
