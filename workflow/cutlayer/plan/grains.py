"""Grains: how much is a job. Of a setup whose jobs would be long, each is one seed; else each is all seeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ONE_SEED = "_of_a_seed"  # at the end of a rule's name


@dataclass(frozen=True)
class Grain:
    """Setups whose jobs are cut alike and whose transcripts are kept alike."""

    setups: tuple[str, ...]
    one_seed: bool  # whether a job is one seed
    temporary: bool  # whether a transcript is deleted once all that reads it is done

    @property
    def suffix(self) -> str:
        """At the end of the names of rules."""
        return ("_passing" if self.temporary else "") + (ONE_SEED if self.one_seed else "")

    @property
    def part(self) -> str:
        """At the end of the names of what a job writes, before the extension; with a wildcard."""
        return ".seed{seed}" if self.one_seed else ""


def grains(setups: Iterable[str], one_seed: Iterable[str], temporary: Iterable[str]) -> Iterator[Grain]:
    """Those that have setups."""
    alike: dict[tuple[bool, bool], list[str]] = {}
    for setup in setups:
        alike.setdefault((setup in one_seed, setup in temporary), []).append(setup)
    for how, own in sorted(alike.items()):
        yield Grain(tuple(own), *how)
