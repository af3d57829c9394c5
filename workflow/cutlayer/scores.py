"""Scores: an attack on every view of a run's transcripts, compared with the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import artifacts, plugins, transcript
from .attacks.base import Attack
from .progress import steps
from .protocols.base import Protocol
from .seeds import generator


def score(
    setup: str,
    variant: str,
    attack_name: str,
    protocol_name: str,
    attack: Mapping[str, Any],
    transcripts: Sequence[str | Path],
    truths: Sequence[str | Path],
    output: str | Path,
) -> None:
    """Attack every seed and write one row for each setting, case and metric.

    Columns: setup, defense, attack, seed, setting, the protocol's case, metric, value, and `skipped`: why
    the attack does not apply to the case (then value is empty).
    """
    parameters = {key: value for key, value in attack.items() if key != "use"}
    method: Attack = plugins.create("attack", attack["use"], parameters)
    protocol: Protocol = plugins.create("protocol", protocol_name)
    rows: list[dict[str, Any]] = []
    for seed, (seen, true) in enumerate(zip(transcripts, truths, strict=True)):
        truth, _ = artifacts.read_arrays(true)
        for setting, arrays in transcript.load(seen).items():
            name = (setup, variant, setting, attack_name, seed)
            for case, result in _attacked(method, protocol, arrays, truth, name):
                who = {
                    "setup": setup,
                    "defense": variant,
                    "attack": attack_name,
                    "seed": seed,
                    "setting": setting,
                }
                rows.append(who | case | result)
    artifacts.write_rows(output, rows)


def _attacked(
    method: Attack,
    protocol: Protocol,
    arrays: transcript.Arrays,
    truth: transcript.Arrays,
    name: tuple[Any, ...],
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    cases = list(protocol.cases(arrays))
    for case, seen, rows in steps(cases, f"attack {'/'.join(map(str, name))}"):
        view = transcript.View(name[3], method.sees, seen, generator(*name, *case.values()))
        reason = method.skip(view)
        if reason:
            yield case, {"metric": "", "value": None, "skipped": reason}
            continue
        for metric, value in protocol.leak(method.infer(view), truth, case, rows).items():
            yield case, {"metric": metric, "value": value, "skipped": ""}
