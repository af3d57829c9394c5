"""Sides of a check in one setup: arrays of values by seed and place.

All sides of a check have the same seeds and places, in the same order. They are plain arrays: a ledger has thousands
of them, most of a dozen numbers, and a data frame for each would take most of its time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from cutlayer.metrics import declared
from cutlayer.plan.sweeps import AS_DRAWN

from .cells import NO_SEED, axis
from .chance import errors, kind, rows_of, with_columns
from .check_cells import Check, Selection, selections, where

PLACE = ["seed", "place"]
NUMBERS = ["value", "error", "rows", "few"]


@dataclass(frozen=True)
class Side:
    """One side: values (P,) averaged over all but seed and place, sorted by both."""

    seed: np.ndarray
    place: np.ndarray
    value: np.ndarray
    error: np.ndarray  # the standard error of a value; nan where it is not known
    rows: np.ndarray  # that decide about a value; 0 where their number is not known
    few: np.ndarray  # of the tested rows, those without the most common value; nan where unknown
    kind: str  # that all values are of; empty where they are of several
    redrawn: bool  # whether each seed has rows of its own
    drawn: bool = False  # whether it is what a defense drew for the labels, anew for each seed

    def at(self, kept: np.ndarray) -> Side:
        """The side at some of the seeds and places."""
        own = {name: getattr(self, name)[kept] for name in (*PLACE, *NUMBERS)}
        return replace(self, **own)


@dataclass(frozen=True)
class Pair:
    """A left and a right side, or a left side alone."""

    left: Side
    right: Side | None = None

    @property
    def value(self) -> np.ndarray:
        """Differences (P,), left minus right."""
        return self.left.value if self.right is None else self.left.value - self.right.value

    @property
    def rows(self) -> float:
        """Least number of rows of any seed and place; nan if unknown."""
        rows = self.left.rows if self.right is None else np.minimum(self.left.rows, self.right.rows)
        return float(np.fmin.reduce(rows))

    @property
    def paired(self) -> bool:
        """True if both sides may have the same tested rows: of one kind, as many, as many of the most common value."""
        return (
            self.right is not None
            and self.left.kind == self.right.kind
            and bool((np.abs(self.left.rows - self.right.rows) < 1).all())
            and not (np.abs(self.left.few - self.right.few) >= 1).any()
        )

    @property
    def exact(self) -> bool:
        """True if the value is deterministic (has no seed)."""
        return bool((self.left.seed == NO_SEED).all())

    def at(self, kept: np.ndarray) -> Pair:
        """The pair at some of the seeds and places."""
        return Pair(self.left.at(kept), self.right and self.right.at(kept))

    def by_seed(self, values: np.ndarray) -> np.ndarray:
        """Means (S,) of the known values (P,) of each seed."""
        known, starts = ~np.isnan(values), self._starts()
        sums = np.add.reduceat(np.where(known, values, 0.0), starts)
        with np.errstate(invalid="ignore"):
            return sums / np.add.reduceat(known.astype(float), starts)

    def lines(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Places and left values of each seed."""
        later = self._starts()[1:]
        return zip(np.split(self.left.place, later), np.split(self.left.value, later), strict=True)

    def _starts(self) -> np.ndarray:
        seed = self.left.seed
        return np.flatnonzero(np.concatenate([[True], seed[1:] != seed[:-1]])[: len(seed)])


def pairs(check: Check, own: pd.DataFrame) -> list[list[Pair]]:
    """Pairs for all combinations of left and right selections of a check."""
    lefts, rights = ([_side(own, one) for one in selections(check.get(key, []))] for key in ("left", "right"))
    if check.get("at") in ("first", "last"):
        end = (np.fmin if check["at"] == "first" else np.fmax).reduce(lefts[0].place)
        lefts, rights = ([side.at(side.place == end) for side in sides] for sides in (lefts, rights))
    if not rights:
        return [[Pair(left)] for left in lefts]
    return [[Pair(left, right) for right in rights] for left in lefts]


def place_by_place(pairs: Sequence[Sequence[Pair]]) -> list[list[list[Pair]]]:
    """All pairs, by place."""
    places = pd.unique(pairs[0][0].left.place)
    return [[[pair.at(pair.left.place == place) for pair in row] for row in pairs] for place in places]


def _side(own: pd.DataFrame, selection: Selection) -> Side:
    """Side of a selection: its cells averaged over all but seed and place."""
    cells = with_columns(where(own, selection))
    facts = [cells[name].to_numpy() for name in ("metric", "chance", "tested", "few", "cases")]
    kinds = {kind(metric, chance) for metric, chance in zip(*facts[:2], strict=True)}
    columns = {name: cells[name].to_numpy() for name in ("seed", "value", "error", "few")} | {
        "place": cells[axis(own)].to_numpy(),
        "rows": np.array([rows_of(*each) for each in zip(*facts, strict=True)], dtype=float),
    }
    columns["error"] = errors(cells["metric"], columns)
    order = np.lexsort([columns["place"], columns["seed"]])
    columns = {name: values[order] for name, values in columns.items()}
    if _twice(columns["seed"], columns["place"]):
        groups = pd.DataFrame(columns).groupby(PLACE, dropna=False)
        table = groups[["value", "error", "few"]].mean().assign(rows=groups["rows"].min()).reset_index()
        columns = {name: table[name].to_numpy() for name in columns}
    redrawn = all(declared.of(metric).redrawn for metric in facts[0])
    drawn = bool((cells["attack"] == AS_DRAWN).all())
    return Side(kind=kinds.pop() if len(kinds) == 1 else "", redrawn=redrawn, drawn=drawn, **columns)


def _twice(seed: np.ndarray, place: np.ndarray) -> bool:
    """True if some seed has a place twice; both are sorted."""
    same = (place[1:] == place[:-1]) | (pd.isna(place[1:]) & pd.isna(place[:-1]))
    return bool((same & (seed[1:] == seed[:-1])).any())
