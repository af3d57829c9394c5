"""Chance level of metrics, and the standard error of a number from its finite test set.

A run and an attack say of each case how many rows were tested, how common the most common value is among them, what
random guessing reaches in their utility (1/2 where that is an AUC), and the standard error of an AUC: the metrics that
are declared as such facts. Metrics that were picked with the truth have no chance: the best of many useless guesses is
better than one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

import numpy as np
import pandas as pd

from cutlayer.metrics import declared

COLUMNS = ["tested", "chance", "error", "few"]
NOT_CASES = ["metric", "value", "skipped", "n", "predictions"]
TRAINING = ["setup", "defense", "setting", "attack", "metric"]
FEWER = 0.25  # of the rows, in cells that do not say how many are of the rarer class
VULNERABLE = 0.01  # of the rows, as stages/vulnerable.py has them


def kind(metric: str, chance: float = math.nan) -> str:
    """Kind of a metric; a utility is an AUC where chance is 1/2, else a share."""
    found = declared.of(metric).kind
    if found == declared.UTILITY and chance == chance:
        return declared.AUC if chance == 0.5 else declared.SHARE
    return found


def rows_of(metric: str, chance: float, tested: float, few: float, cases: float) -> float:
    """Number of rows that determine a value: for an AUC those of the rarer class; 0 if unknown."""
    what = declared.of(metric)
    if what.of == declared.CASES:
        return cases
    if what.of == declared.VULNERABLE:
        return VULNERABLE * tested
    if kind(metric, chance) == declared.AUC or what.of == declared.POSITIVES:
        return few if few > 0 else FEWER * tested
    return tested if kind(metric, chance) == declared.SHARE else 0.0


def errors(metrics: Iterable[str], columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """Standard errors (cells,) of values from their tested rows, also of shares of the positives."""
    some = declared.POSITIVES, declared.VULNERABLE
    found = np.array([declared.of(name).of in some for name in metrics], dtype=bool)
    value, rows = columns["value"].astype(float), columns["rows"]
    with np.errstate(invalid="ignore", divide="ignore"):
        own = np.sqrt((value * (1 - value)).clip(0) / rows)
    return np.where(found & (rows > 0), own, columns["error"].astype(float))


def with_chance(cells: pd.DataFrame) -> pd.DataFrame:
    """The rows of runs and attacks with columns tested (rows; 0 unknown), chance, error (standard, NaN), and few, how
    many rows are of the rarer class (NaN). Rows that say only this are left out.
    """
    case = cells.groupby([column for column in cells.columns if column not in NOT_CASES], dropna=False).ngroup()
    what = [declared.of(name) for name in cells["metric"]]
    shown = np.array([one.kind != declared.FACT for one in what], dtype=bool)
    fact = np.array([bool(one.fact) for one in what], dtype=bool)
    with_case = cells.assign(case_=case)[fact].drop_duplicates(["case_", "metric"])
    facts = {str(name): own.set_index("case_")["value"] for name, own in with_case.groupby("metric")}
    found, case = cells[shown].reset_index(drop=True), case[shown].reset_index(drop=True)
    what = [one for one in what if one.kind != declared.FACT]
    rows, common, guessed = (_fact_of(case, facts, fact) for fact in (declared.ROWS, declared.COMMON, declared.CHANCE))
    auc, share, utility, log_loss = (
        pd.Series([one.kind == kind for one in what], dtype=bool)
        for kind in (declared.AUC, declared.SHARE, declared.UTILITY, declared.LOG_LOSS)
    )
    share &= pd.Series([not one.of for one in what], dtype=bool)
    chance = common.where(share).mask(auc, 0.5).mask(utility, guessed)
    chance = chance.mask(log_loss & (guessed == 0.5), common.map(_entropy))
    chance = chance.mask(pd.Series([one.picked or bool(one.fact) for one in what], dtype=bool))
    error = _of_rows(case, facts, what).fillna(_of_auc(found["value"], rows, common))
    error = error.where(auc | (utility & (guessed == 0.5)))
    error = error.fillna(_of_share(found["value"], rows).where(share | utility))
    return found.assign(tested=rows.fillna(0), chance=chance, error=error, few=rows * (1 - common))


def _fact_of(case: pd.Series, facts: Mapping[str, pd.Series], fact: str) -> pd.Series:
    """A fact of each cell's case (cells,), from the first metric that has it; NaN where none has."""
    names = [name for name, says in declared.FACTS.items() if says == fact and name in facts]
    unknown = pd.Series(math.nan, index=case.index)
    return reduce(lambda with_case, name: with_case.fillna(case.map(facts[name])), names, unknown)


def _of_rows(case: pd.Series, facts: Mapping[str, pd.Series], what: Sequence[declared.Metric]) -> pd.Series:
    """Standard errors (cells,) computed at scoring; NaN where there is none."""
    found = pd.Series(math.nan, index=case.index)
    wanted = np.array([one.error for one in what], dtype=object)
    for name in facts.keys() & set(wanted):
        found = found.mask(wanted == name, case.map(facts[name]))
    return found


def _entropy(share: float) -> float:
    """Log loss of predicting the class rates of two classes."""
    return -sum(part * math.log(part) for part in (share, 1 - share) if part > 0)


def _of_share(share: pd.Series, rows: pd.Series) -> pd.Series:
    """Binomial standard error of a share of some rows."""
    return ((share * (1 - share)).clip(lower=0) / rows) ** 0.5


def _of_auc(auc: pd.Series, rows: pd.Series, common: pd.Series) -> pd.Series:
    """Standard error of the AUC of two classes (Hanley, McNeil), the larger one of both choices of the positive class.

    Hanley, McNeil, "The meaning and use of the area under a ROC curve", Radiology 143, 1982.
    """
    many, few = rows * common, rows * (1 - common)
    first, second = _hanley_mcneil(auc, many, few), _hanley_mcneil(auc, few, many)
    return first.where(first > second, second).where((few > 0) & (many > 0))


def _hanley_mcneil(auc: pd.Series, positives: pd.Series, negatives: pd.Series) -> pd.Series:
    twice_positive, twice_negative = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = auc * (1 - auc) + (positives - 1) * (twice_positive - auc**2) + (negatives - 1) * (twice_negative - auc**2)
    return (spread.clip(lower=0) / (positives * negatives)) ** 0.5


def two_sided(own: pd.DataFrame, earlier: bool = False) -> pd.DataFrame:
    """The cells with each attack's AUC replaced by its leak, folded at 1/2.

    Which way round its score is read is chosen on the other seeds, once a training: a useless score then reads 1/2,
    where one that is turned by the truth it is scored with would read more. With one seed there is nothing to choose
    on, and it is read as it is. `earlier`: it is chosen on seeds before, of which the first has none.
    """
    if "by" in own:
        return own  # of worst cases, whose signs are chosen already
    own = with_columns(own)
    turned = leaks(own) & ((_before(own) if earlier else _elsewhere(own)) < 0.5)
    return own.assign(value=own["value"].mask(turned, 1 - own["value"])) if turned.any() else own


def leaks(own: pd.DataFrame) -> np.ndarray:
    """Mask (cells,) of AUCs of attacks, and of other numbers that turn round with a score."""
    rows = zip(own["metric"], own["attack"], own["chance"], strict=True)
    found = (
        bool(attack) and (kind(name, chance) == declared.AUC or declared.of(name).mirrored)
        for name, attack, chance in rows
    )
    return np.array([*found], dtype=bool)


def _elsewhere(own: pd.DataFrame) -> pd.Series:
    """Mean over all other seeds, for each cell; NaN where there is no other seed."""
    groups = own.groupby(TRAINING, dropna=False)["value"]
    seeds = own.groupby([*TRAINING, "seed"], dropna=False)["value"]
    known, sums = groups.transform("count") - seeds.transform("count"), groups.transform("sum") - seeds.transform("sum")
    return sums / known.where(known > 0)


def _before(own: pd.DataFrame) -> pd.Series:
    """Mean over all earlier seeds, for each cell; NaN where there is none."""
    seeds = own.groupby([*TRAINING, "seed"], dropna=False)["value"].agg(["sum", "count"])
    before = seeds.groupby(TRAINING, dropna=False).cumsum() - seeds
    means = before["sum"] / before["count"].where(before["count"] > 0)
    return pd.Series(means.loc[pd.MultiIndex.from_frame(own[[*TRAINING, "seed"]])].to_numpy(), own.index)


def with_columns(own: pd.DataFrame) -> pd.DataFrame:
    """The cells with the columns of chance; unknown where a table has none."""
    lacking = [column for column in COLUMNS if column not in own]
    return own.assign(**dict.fromkeys(lacking, float("nan"))) if lacking else own
