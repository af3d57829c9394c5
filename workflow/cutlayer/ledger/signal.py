"""Signal: tests whether a setup's model and the attacks on it are better than chance; otherwise nothing is judged.

The undefended run decides, each of its metrics of which chance is known: the share of the most common value for an
accuracy, 1/2 for an AUC. Its whole interval must be above that, where seeds and the binomial error of the tested rows
both count, or that of each seed on its own; an attack's AUC may be on either side. An attack counts in the metrics that
are judged: one that is better than chance by its AUC alone says nothing of how an accuracy falls. Of what has no known
chance, as `attack_accuracy_max`, any metric of the attack counts. Where a paper has no undefended run of a setup, the
runs with a weight of 0 decide, or else all runs. Of several attacks one is enough, so that they share the 5% equally,
and so do the metrics and runs of an attack its part: a rival that was run more often takes no other's signal away.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.stats import norm

from cutlayer.metrics import declared
from cutlayer.plan.sweeps import UNDEFENDED

from .audit import SCORE
from .chance import kind, with_columns
from .check_cells import Check, acts, idle
from .statistics import CONFIDENCE, Sample

NO_SIGNAL = "no signal"
MODEL, NO_BETTER = "the model", "is not surely better than chance here"
CASE = ["exhibit", "setup", "defense", "setting", "attack", "metric", "seed"]
NUMBERS = ["value", "chance", "error"]
COLUMNS = [*CASE, *NUMBERS]
RUN = ["defense", "setting", "attack", "metric"]
LESS_SLACK = " (less what pairs of coins may add)"
EVERY_CASE = {"largest", "largest_gap"}  # what is said of every training is said of bad ones too


class Signals:
    """Tests against chance in the cells of a paper's exhibits."""

    def __init__(self, cells: Mapping[str, pd.DataFrame]) -> None:
        tables = [with_columns(_apart(name, table)) for name, table in cells.items()]
        known = [table.dropna(subset=["chance", "value"])[COLUMNS] for table in tables]
        rows = pd.concat([pd.DataFrame(columns=COLUMNS), *(table for table in known if not table.empty)])
        above = [declared.of(name).kind != declared.LOG_LOSS for name in rows["metric"]]  # of which less is better
        rows = rows[np.array(above, dtype=bool)].astype(dict.fromkeys(NUMBERS, float))
        self._cells = rows.groupby(CASE, sort=False).mean().reset_index()
        self._found: dict[tuple[str, str, str, frozenset[str], int], str] = {}

    def lacking(self, check: Check, used: pd.DataFrame) -> str:
        """Why cells of one setup can decide nothing; empty when they can, or when chance is not known."""
        if check["statistic"] in EVERY_CASE or not (used["tested"] > 0).any():
            return ""
        setup, attacked = str(used["setup"].iloc[0]), used[used["attack"] != ""]
        picked = any(declared.of(name).picked for name in attacked["metric"])  # the best of many guesses
        reason = self._chance("", setup, "", frozenset())
        if reason or attacked.empty or not (acts(used) or picked):
            return reason
        attacks, metrics = [*dict.fromkeys(attacked["attack"])], frozenset(attacked["metric"])
        reasons = [self._chance(check["exhibit"], setup, name, metrics, len(attacks)) for name in attacks]
        return "; ".join(reasons) if all(reasons) else ""

    def _chance(self, exhibit: str, setup: str, attack: str, metrics: frozenset[str], attacks: int = 1) -> str:
        """Reason why an attack, one of several, is not better than chance in these metrics (in any if none has a known
        chance); of the model itself where it has no name.
        """
        if (key := (exhibit, setup, attack, metrics, attacks)) not in self._found:
            own = self._cells[(self._cells["setup"] == setup) & (self._cells["attack"] == attack)]
            own = own[own["exhibit"].isin(["", exhibit])]
            undefended = own["defense"] == UNDEFENDED
            own = next((runs for runs in (own[undefended], idle(own)) if len(runs)), own)
            judged = own[own["metric"].isin(metrics)]
            self._found[key] = _no_better(own if judged.empty else judged, attacks)
        return self._found[key]


def _apart(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """A table with a column `exhibit`: of a set of attacks, which is another one in another exhibit, the table's name,
    and else empty.
    """
    of_set = table["by"] != "" if "by" in table else pd.Series(False, table.index)
    return table.assign(exhibit=of_set.map({True: name, False: ""}))


def _no_better(own: pd.DataFrame, attacks: int) -> str:
    """Reason why no metric is better than chance; empty if one is, or if there is none. The attacks share the 5%."""
    runs = [(name, run) for name, run in own.groupby(RUN, sort=False)]
    best, reason = -float("inf"), ""
    for (defense, setting, attack, metric), run in runs:
        either_side = bool(attack) and (kind(str(metric), float(run["chance"].iloc[0])) == declared.AUC)
        above, errors = (run["value"] - run["chance"]).to_numpy(), run["error"].fillna(0).to_numpy()
        if better(above, errors, either_side, attacks * len(runs)):
            return ""
        if above.mean() > best:
            best, whose = float(above.mean()), "" if defense == UNDEFENDED else f" under {defense}[{setting}]"
            note = LESS_SLACK if metric == SCORE else ""
            found = f"{metric} {run['value'].mean():.3f}{note}{whose}, chance {run['chance'].mean():.3f}"
            reason = f"{f'the attack {attack}' if attack else MODEL} {NO_BETTER}: {found}"
    return reason


def better(above: np.ndarray, errors: np.ndarray, either_side: bool = False, parts: int = 1) -> bool:
    """Whether values (seeds,) that are so much above chance, with these standard errors, are surely so.

    The mean's whole interval is above, or that of every single seed: a guess without information varies from seed to
    seed by the tested rows alone, however much trainings that learn something do. One of several `parts` is enough.
    """
    pooled = Sample(above, float(errors.mean())).estimate(parts)
    reach = float(norm.ppf(1 - (1 - CONFIDENCE) / 2 / parts)) * errors
    known = len(above) > 1 and bool((errors > 0).all())
    if pooled.low > 0 or (known and bool((above > reach).all())):
        return True
    return either_side and (pooled.high < 0 or (known and bool((np.abs(above) > reach).all())))
