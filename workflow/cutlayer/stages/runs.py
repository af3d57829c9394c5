"""Runs: train every seed of one setup under one defense, from normalised data to transcripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cutlayer.core import artifacts, transcript
from cutlayer.core.failures import Failed, tolerate
from cutlayer.core.progress import steps
from cutlayer.data.normalised import read
from cutlayer.games.base.protocol import Outcome, Protocol, Task
from cutlayer.plan import plugins
from cutlayer.plan.sweeps import settings_of

from . import priors


def execute(
    setup: str,
    variant: str,
    settings: Mapping[str, Any],
    defense: Mapping[str, Any],
    data: str | Path,
    trained: Sequence[str | Path],
    utility: str | Path,
    seeds: Sequence[int],
    device: str = "cpu",
    prior: Sequence[str | Path] = (),
) -> list[str]:
    """Train the seeds; write the table `utility` and, next to it, `seed<n>.{transcript,truth,learned}.safetensors`.

    `trained` are the `learned` files of the undefended run, one a seed, for defenses that do not change training,
    and `prior` the file of `priors.fit`, where an exhibit shows the leak beyond features.
    Returns why seeds failed, see `failures`.
    """
    table, _ = read(data, settings["dataset"])
    protocol: Protocol = plugins.create("protocol", settings["protocol"])
    game, settled = settings["protocol"], settings_of(defense)
    defenses = {label: plugins.create("defense", defense["use"], p, game) for label, p in settled.items()}
    rows, reasons = [], []
    for index, seed in enumerate(steps(seeds, f"run {setup}/{variant}")):
        learned, failed = artifacts.read_arrays(trained[index]) if trained else (None, None)
        known = priors.of_seed(prior[0], seed) if prior else None
        task = Task(setup, variant, seed, table, settings, defenses, learned, device, known)
        outcome = Failed(f"{failed} (undefended)") if failed else tolerate(partial(protocol.outcome, task))
        if isinstance(outcome, Failed):
            reasons.append(outcome.reason)
            outcome = Outcome(utility=[{"skipped": outcome.reason}], failed=outcome.reason)
        _save(outcome, Path(utility).parent, seed)
        rows += [{"setup": setup, "defense": variant, "seed": seed, **row} for row in outcome.utility]
    artifacts.write_rows(utility, rows)
    return reasons


def _save(outcome: Outcome, folder: Path, seed: int) -> None:
    name = f"{folder}/seed{seed}"
    transcript.save(f"{name}.transcript.safetensors", outcome.transcripts, outcome.shared, outcome.failed)
    artifacts.write_arrays(f"{name}.truth.safetensors", outcome.truth)
    artifacts.write_arrays(f"{name}.learned.safetensors", outcome.learned, outcome.failed)
