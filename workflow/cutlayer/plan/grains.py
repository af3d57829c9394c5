"""Job granularity: a job runs one seed of a setup if it would otherwise be long, else all seeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ONE_SEED = "_of_a_seed"  # at the end of a rule's name


@dataclass(frozen=True)
class Grain:
    """Setups that share a job granularity, and whether their transcripts are kept."""

    setups: tuple[str, ...]
    one_seed: bool  # a job runs one seed
    temporary: bool  # a transcript is deleted once all jobs that read it are done

    @property
    def suffix(self) -> str:
        """Suffix of the names of rules."""
        return ("_passing" if self.temporary else "") + (ONE_SEED if self.one_seed else "")

    @property
    def part(self) -> str:
        """Suffix of a job's output files before the extension, with a wildcard for the seed."""
        return ".seed{seed}" if self.one_seed else ""


def grains(setups: Iterable[str], one_seed: Iterable[str], temporary: Iterable[str]) -> Iterator[Grain]:
    """All granularities that some setup has."""
    alike: dict[tuple[bool, bool], list[str]] = {}
    for setup in setups:
        alike.setdefault((setup in one_seed, setup in temporary), []).append(setup)
    for how, own in sorted(alike.items()):
        yield Grain(tuple(own), *how)
