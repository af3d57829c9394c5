"""Distance to the published numbers by exhibit, in units of the verdict's tolerance.

A number in a table is comparable to one in another only in what its rule allows it: 2 points of an accuracy, 0.02 of an
AUC, the spread that the paper prints. Facts of the data are no results, and generated data are not what was printed of.
"""

from __future__ import annotations

import pandas as pd

from .verdicts import STAND_IN

ABOUT = (
    "The distance of an exhibit is the median of |ours - printed| over its numbers, in tolerances: at 1 it is what the "
    "rule of a verdict allows. Smaller models and fewer rows than the paper's are part of it."
)
NUMBERS = ("seeds", "tolerance", "ours", "low", "high", "difference")
COLUMNS = [
    "paper", "exhibit", "numbers", "distance", "middle half", "undefended", "distance undefended", "data", "scales",
    "sizes", "seeds",
]  # fmt: skip


def compared(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Published numbers of claims.csv for which we have a result, with their `distance` in tolerances."""
    rows = verdicts[(verdicts["kind"] == "number") & (verdicts["provenance"] != STAND_IN)]
    rows = rows.assign(**{name: pd.to_numeric(rows[name]) for name in NUMBERS})  # publish has them as text
    rows = rows[(rows["seeds"] > 0) & rows["ours"].notna() & (rows["tolerance"] > 0)]
    return rows.assign(distance=rows["difference"].abs() / rows["tolerance"])


def table(verdicts: pd.DataFrame) -> pd.DataFrame:
    """Median distances (COLUMNS), a row for each exhibit with published numbers; `verdicts` is claims.csv."""
    groups = compared(verdicts).groupby(["paper", "exhibit"], sort=False)
    return pd.DataFrame([_row(str(paper), str(name), own) for (paper, name), own in groups], columns=COLUMNS)


def _row(paper: str, name: str, own: pd.DataFrame) -> dict[str, object]:
    plain = own[own["defended"] == "no"]
    low, high = own["distance"].quantile([0.25, 0.75])
    return {
        "paper": paper,
        "exhibit": name,
        "numbers": len(own),
        "distance": _digits(own["distance"].median()),
        "middle half": f"{_digits(low)} to {_digits(high)}",
        "undefended": len(plain),
        "distance undefended": _digits(plain["distance"].median()) if len(plain) else "",
        "data": ", ".join(dict.fromkeys(own["provenance"])),
        "scales": ", ".join(dict.fromkeys(own["scale"])),
        "sizes": ", ".join(dict.fromkeys(own["size"].str.partition(":")[0])),
        "seeds": int(own["seeds"].max()),
    }


def _digits(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"
