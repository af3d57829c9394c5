"""Insurance claims of the Heritage Health Prize, release 3, summed up per member, as its competitors did it in SQL.

Averages of whole numbers are cut to whole numbers, as SQL does. Missing identities are not counted, missing categories
are a category.
"""

from __future__ import annotations

import zipfile

import numpy as np
import pandas as pd

# In days. The competitors' list: any other length counts as known, but not what it is.
STAYS = {
    "1 day": 1, "2 days": 2, "3 days": 3, "4 days": 4, "5 days": 5, "6 days": 6,
    "1- 2 weeks": 11, "2- 4 weeks": 21, "4- 8 weeks": 42, "26+ weeks": 180,
}  # fmt: skip
DISTINCT = {
    "ProviderID": "providers", "Vendor": "vendors", "PCP": "PCPs", "PlaceSvc": "places", "Specialty": "specialties",
    "PrimaryConditionGroup": "conditions", "ProcedureGroup": "procedures",
}  # fmt: skip
KINDS = {
    "PrimaryConditionGroup": "condition", "Specialty": "specialty", "ProcedureGroup": "procedure", "PlaceSvc": "place",
}  # fmt: skip
UNKNOWN = "?"
BLOCK = 200_000  # lines read at a time


def people(archive: zipfile.ZipFile) -> pd.DataFrame:
    """AgeAtFirstClaim, Sex and ClaimsTruncated of the members of year 3 by number, without those who lack one.

    In the order of Target.csv, which lists them; DaysInHospital_Y2 and _Y3 do so for the years before.
    """
    target, members = _table(archive, "Target"), _table(archive, "Members")
    return target[["ClaimsTruncated"]].join(members).dropna(subset=["AgeAtFirstClaim", "Sex"])


def summary(archive: zipfile.ZipFile, year: str) -> pd.DataFrame:
    """Numbers by member, of claims, drugs and laboratory tests of a year; missing where there are none.

    "charlson" says whether a claim has a Charlson index above zero.
    """
    claims = _table(archive, "Claims", year)
    months = [_monthly(_table(archive, f"{kind}Count", year), kind) for kind in ("Drug", "Lab")]
    parts = [_distinct(claims), _delays(claims), _stays(claims), _times(claims), _kinds(claims), _charlson(claims)]
    return pd.concat([*parts, *months], axis=1)


def _table(archive: zipfile.ZipFile, name: str, year: str = "") -> pd.DataFrame:
    """One of the tables by MemberID, of one year or as it is; texts, missing where they are empty."""
    with archive.open(f"{name}.csv") as file:
        blocks = pd.read_csv(file, dtype=str, keep_default_na=False, na_values=[""], chunksize=BLOCK)
        rows = pd.concat(block[block.Year == year] if year else block for block in blocks)
    return rows.astype({"MemberID": int}).set_index("MemberID")


def _distinct(claims: pd.DataFrame) -> pd.DataFrame:
    groups = claims.groupby(level=0)
    return groups[list(DISTINCT)].nunique().rename(columns=DISTINCT).assign(claims=groups.size())


def _kinds(claims: pd.DataFrame) -> pd.DataFrame:
    """How many claims are of each category."""
    counts = [pd.crosstab(claims.index, claims[c].fillna(UNKNOWN)).add_prefix(f"{n} ") for c, n in KINDS.items()]
    return pd.concat(counts, axis=1)


def _charlson(claims: pd.DataFrame) -> pd.Series:
    above = claims.CharlsonIndex.notna() & claims.CharlsonIndex.ne("0")
    return above.groupby(level=0).max().rename("charlson")


def _delays(claims: pd.DataFrame) -> pd.DataFrame:
    """Days from service to payment; the highest number is open and counts as its limit."""
    return _spread(claims.PayDelay.str.rstrip("+").astype(float), "delay")


def _stays(claims: pd.DataFrame) -> pd.DataFrame:
    """Days in hospital, and how often their number is unknown, suppressed or known."""
    given, suppressed = claims.LengthOfStay.notna(), claims.SupLOS.eq("1")
    sums = {"unknown": ~given & ~suppressed, "suppressed": ~given & suppressed, "known": given}
    counts = {f"stays {name}": which.groupby(level=0).sum() for name, which in sums.items()}
    return _spread(claims.LengthOfStay.map(STAYS).astype(float), "stay").assign(**counts)


def _times(claims: pd.DataFrame) -> pd.DataFrame:
    """Months since the member's first claim, from 1."""
    months = claims.DSFS.str.extract(r"(\d+) month", expand=False).astype(float)
    found = _spread(months, "month")
    known = months.groupby(level=0).count() > 0
    return found.assign(**{"month range": (found["month max"] - found["month min"]).where(known, -1)})


def _spread(numbers: pd.Series, name: str) -> pd.DataFrame:
    """Greatest, least, mean and deviation per member: 0 where none is known, but -1 for a deviation that is not."""
    groups = numbers.groupby(level=0)
    found = groups.agg(["max", "min", "mean"]).fillna(0)
    deviation = groups.std().where(groups.size() > 1, 0).fillna(-1)
    return found.assign(mean=np.floor(found["mean"]), deviation=deviation).add_prefix(f"{name} ")


def _monthly(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The same of counts of drugs or tests by month, and how many months there are."""
    groups = table[f"{kind}Count"].str.rstrip("+").astype(float).groupby(level=0)
    found = groups.agg(["max", "min", "mean"]).assign(months=groups.size())
    return found.add_prefix(f"{kind.lower()}s ")
