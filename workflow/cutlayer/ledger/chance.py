"""What a guess without any information reaches in a metric, and how far the choice of the tested rows moves a number.

A run and an attack say of each case how many `rows` were tested, how common the most common value is among them
(`majority`, of a run's own task `task_majority`), and what a guess without information reaches in their utility
(`chance`, which is 1/2 where that is an AUC). Metrics that were picked with the truth (`_max`, `_oracle`) have no
chance: the best of many useless guesses is better than one.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

FACTS = ("rows", "majority", "task_majority", "chance")
HIDDEN = ("rows", "chance")  # what no exhibit shows
GUESSES = ("majority", "task_majority", "uniform", "chance_floor", "floor")  # metrics that are a chance, not above one
COLUMNS = ["tested", "chance", "error"]
LOG_LOSS = "test_log_loss"  # of which less is better
NOT_CASES = ["metric", "value", "skipped", "n", "predictions"]
PICKED = ("_max", "_oracle")
TRAINING = ["setup", "seed", "defense", "setting", "attack", "metric"]


def is_auc(metric: str) -> bool:
    """Whether a metric is an AUC by its name; of `utility` only its chance tells."""
    return "auc" in metric


def is_share(metric: str) -> bool:
    """Whether a metric is a share of the tested rows."""
    return "accuracy" in metric or metric in ("majority", "task_majority")


def with_chance(cells: pd.DataFrame) -> pd.DataFrame:
    """The rows of runs and attacks with columns tested (rows; 0 unknown), chance and error, its standard error (NaN).

    Rows that say only this are left out.
    """
    keys = [column for column in cells.columns if column not in NOT_CASES]
    found = cells[~cells["metric"].isin(HIDDEN)]
    for fact in FACTS:
        said = cells.loc[cells["metric"] == fact, [*keys, "value"]].drop_duplicates(keys)
        found = found.merge(said.rename(columns={"value": f"{fact}_"}), on=keys, how="left")
    rows, common = found["rows_"], found["majority_"].fillna(found["task_majority_"])
    names = found["metric"].unique()
    auc, share = (found["metric"].isin([*filter(kind, names)]) for kind in (is_auc, is_share))
    utility = found["metric"].str.endswith("_utility")
    chance = common.where(share).mask(auc, 0.5).mask(utility, found["chance_"])
    chance = chance.mask((found["metric"] == LOG_LOSS) & (found["chance_"] == 0.5), common.map(_entropy))
    chance = chance.mask(found["metric"].str.endswith(PICKED) | found["metric"].isin(GUESSES))
    error = _of_auc(found["value"], rows, common).where(auc | (utility & (found["chance_"] == 0.5)))
    error = error.fillna(_of_share(found["value"], rows).where(share | utility))
    return found.drop(columns=[f"{fact}_" for fact in FACTS]).assign(tested=rows.fillna(0), chance=chance, error=error)


def _entropy(share: float) -> float:
    """The log loss of two classes for one who knows only how common they are."""
    return -sum(part * math.log(part) for part in (share, 1 - share) if part > 0)


def _of_share(share: pd.Series, rows: pd.Series) -> pd.Series:
    """The binomial standard error of a share of some rows."""
    return ((share * (1 - share)).clip(lower=0) / rows) ** 0.5


def _of_auc(auc: pd.Series, rows: pd.Series, common: pd.Series) -> pd.Series:
    """The standard error of the AUC of two classes, the larger one if either is called positive.

    Hanley, McNeil, "The meaning and use of the area under a ROC curve", Radiology 143, 1982.
    """
    many, few = rows * common, rows * (1 - common)
    first, second = _hanley_mcneil(auc, many, few), _hanley_mcneil(auc, few, many)
    return first.where(first > second, second).where((few > 0) & (many > 0))


def _hanley_mcneil(auc: pd.Series, positives: pd.Series, negatives: pd.Series) -> pd.Series:
    twice_positive, twice_negative = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    spread = auc * (1 - auc) + (positives - 1) * (twice_positive - auc**2) + (negatives - 1) * (twice_negative - auc**2)
    return (spread.clip(lower=0) / (positives * negatives)) ** 0.5


def two_sided(own: pd.DataFrame) -> pd.DataFrame:
    """The cells with what an attack's AUC leaks in place of the AUC."""
    own = with_columns(own)
    rows = zip(own["metric"], own["attack"], own["chance"] == 0.5, strict=True)
    auc = [bool(attack) and (is_auc(name) or (half and name == "attack_utility")) for name, attack, half in rows]
    if not any(auc):
        return own
    turned = np.array(auc) & (own.groupby(TRAINING, dropna=False)["value"].transform("mean") < 0.5)
    return own.assign(value=own["value"].mask(turned, 1 - own["value"]))


def with_columns(own: pd.DataFrame) -> pd.DataFrame:
    """The cells with the columns that say what chance gives; unknown where a table has none."""
    if set(COLUMNS) <= set(own.columns):
        return own
    return own.assign(**{column: float("nan") for column in COLUMNS if column not in own})
