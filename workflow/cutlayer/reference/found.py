"""What a run found, in three lines: where to look, counts of verdicts, what agrees with the reference."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from cutlayer.core.errors import InputError
from cutlayer.ledger import overview

from . import compare, published


@dataclass(frozen=True)
class Agreement:
    """A run beside the reference, row by row of claims.csv."""

    agree: int  # rows of both whose intervals overlap
    differ: pd.DataFrame  # the others of both: columns of both tables, with the suffixes of `compare.SIDES`
    added: int  # rows that the reference does not have

    @property
    def sentence(self) -> str:
        """How many rows agree, differ and are added."""
        both = self.agree + len(self.differ)
        return (
            f"Of {both:,} rows that the reference run has, too, {self.agree:,} agree with it (the intervals overlap) "
            f"and {len(self.differ):,} do not; {self.added:,} rows are only in this run."
        )


def agreement(yours: pd.DataFrame, theirs: pd.DataFrame) -> Agreement:
    """How a run's claims.csv agrees with that of the reference."""
    both = yours.merge(theirs, on=compare.KEY, suffixes=compare.SIDES)
    apart = compare.differing(both)
    return Agreement(int((~apart).sum()), both[apart], len(yours) - len(both))


def lines(results: Path, reference: Path) -> list[str]:
    """The three lines; fewer without a ledger or without a reference."""
    said = [f"Open {results / 'site/index.html'} in a browser; {results / 'ledger.md'} is the short form."]
    own = results / "claims.csv"
    if own.exists():
        table = compare.read(own)
        counts = ", ".join(f"{count:,} {group}" for group, count in overview.grouped(table["verdict"]).items() if count)
        said.append(f"Found at scale {' and '.join(dict.fromkeys(table['scale']))}, in {len(table):,} rows: {counts}.")
        if (reference / "claims.csv").exists():
            beside = agreement(table, compare.read(reference / "claims.csv"))
            said.append(f"{beside.sentence} `make compare` lists them.")
    return said


if __name__ == "__main__":
    try:
        print("\n".join(lines(Path("results"), published.FOLDER)))
    except InputError as error:
        sys.exit(f"error: {error}")
