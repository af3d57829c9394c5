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

    agree: int  # rows with a number in both whose intervals overlap
    differ: pd.DataFrame  # those whose intervals do not: columns of both, with the suffixes of `compare.SIDES`
    one_sided: int  # rows with a number in one of both
    without: int  # rows without a number in both
    added: int  # rows that the reference does not have

    @property
    def sentence(self) -> str:
        """How many rows agree, differ, cannot be compared, and are added."""
        both = self.agree + len(self.differ)
        return (
            f"Of {both:,} rows with a number both here and in the reference run {self.agree:,} agree (the intervals "
            f"overlap) and {len(self.differ):,} do not; {self.one_sided:,} rows have a number on one side only, "
            f"{self.without:,} on neither, and {self.added:,} are only in this run."
        )


def agreement(yours: pd.DataFrame, theirs: pd.DataFrame) -> Agreement:
    """How a run's claims.csv agrees with that of the reference."""
    both = yours.merge(theirs, on=compare.KEY, suffixes=compare.SIDES)
    apart, one_sided = compare.differing(both), compare.one_sided(both)
    neither = both["ours_yours"].isna() & both["ours_reference"].isna()
    agree = ~(apart | one_sided | neither)
    alone, without = int(one_sided.sum()), int(neither.sum())
    return Agreement(int(agree.sum()), both[apart], alone, without, len(yours) - len(both))


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
