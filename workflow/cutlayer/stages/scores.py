"""Scores: run attacks on the transcripts of a run, and measure their guesses against the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from cutlayer.core import artifacts, transcript
from cutlayer.core.failures import Failed, tolerate
from cutlayer.core.progress import steps
from cutlayer.core.seeds import generator
from cutlayer.games.base.attack import Attack, guessed
from cutlayer.games.base.protocol import Protocol
from cutlayer.plan import plugins

Rows = list[dict[str, Any]]
Settings = Mapping[str, transcript.Arrays] | str  # those of a transcript, or why there are none
Attacked = Callable[[transcript.Arrays, tuple[Any, ...]], Rows]


def score(
    setup: str,
    variant: str,
    protocol_name: str,
    attacks: Mapping[str, Mapping[str, Any]],
    transcripts: Sequence[str | Path],
    truths: Sequence[str | Path],
    seeds: Sequence[int],
    outputs: Sequence[str | Path],
    device: str = "cpu",
) -> list[str]:
    """Run each attack on these seeds of a run and write its table, one row for each setting, case and metric.

    Columns: setup, defense, attack, seed, setting, the protocol's case, metric, value, and `skipped`: why
    the attack does not apply to the case, or failed (then value is empty). Returns why attacks failed, see `failures`.
    """
    protocol: Protocol = plugins.create("protocol", protocol_name)
    methods: dict[str, Attack] = {name: plugins.create("attack", *plugins.used(a)) for name, a in attacks.items()}
    tables: dict[str, Rows] = {name: [] for name in methods}
    reasons: list[str] = []
    for seed, seen, true in zip(seeds, transcripts, truths, strict=True):  # each is read once, for all attacks
        settings, truth = _settings(seen), artifacts.read_arrays(true)[0]
        for name, method in methods.items():
            attacked = partial(measured, method, protocol, truth, device)
            for setting, found in _outcomes(settings, attacked, (setup, variant, name, seed)):
                if isinstance(found, Failed):
                    reasons.append(found.reason)
                    found = [_skipped(found.reason)]
                who = {"setup": setup, "defense": variant, "attack": name, "seed": seed, "setting": setting}
                tables[name] += [who | row for row in found]
    for rows, output in zip(tables.values(), outputs, strict=True):
        artifacts.write_rows(output, rows)
    return reasons


def _settings(seen: str | Path) -> Settings:
    """Settings of a transcript, or the reason why the run has none."""
    try:
        return transcript.load(seen)
    except transcript.FailedRun as run:
        return str(run)


def _outcomes(settings: Settings, attacked: Attacked, name: tuple[Any, ...]) -> Iterator[tuple[str, Rows | Failed]]:
    """Rows of each setting of a transcript, or the reason why the attack failed."""
    if isinstance(settings, str):
        yield "", [_skipped(settings)]
        return
    setup, variant, attack, seed = name
    for setting, arrays in settings.items():
        yield setting, tolerate(partial(attacked, arrays, (setup, variant, setting, attack, seed)))


def _skipped(reason: str) -> dict[str, Any]:
    return {"metric": "", "value": None, "skipped": reason}


def measured(
    method: Attack,
    protocol: Protocol,
    truth: transcript.Arrays,
    device: str,
    arrays: transcript.Arrays,
    name: tuple[Any, ...],
) -> Rows:
    """Rows of metrics of one attack for all cases of one setting and seed."""
    known = transcript.of_setting(truth, name[2])
    cases, found = method.chosen(list(protocol.cases(arrays, method.target))), []
    for case, seen, rows in steps(cases, f"attack {'/'.join(map(str, name))}"):
        view = transcript.View(name[3], method.sees, seen, generator(*name, *case.values()), device)
        reason = method.skip(view)
        if reason:
            found.append(case | _skipped(reason))
            continue
        spec = protocol.guess_spec(seen, method.target)
        for kind, one in guessed(method, view, spec).items():
            suffix = f"_{kind}" if kind else ""
            for metric, value in protocol.leak(one, known, case, rows, spec.given_to(method)).items():
                found.append(case | {"metric": metric + suffix, "value": value, "skipped": ""})
    return found + protocol.summarize(found)
