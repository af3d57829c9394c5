"""The audit of an exhibit whose rows have coins for labels: what surely leaks, beside what a defense guarantees.

`coin_auc` is an attack's AUC less what pairs of fair coins may add, so that its mean over trainings is at most that
of the mechanism; attack and sign are chosen on other seeds, by this very difference. `auc_measured` is the lower end
of its one-sided 95% interval, `mu_measured` and `epsilon_of_mu` what a Gaussian mechanism of that AUC has.
`epsilon_measured` is ruled out by the numbers of right guesses of all coins, half of them, or few. Their attack and
sign are chosen on earlier seeds, and the first seed is for choosing alone, so that it is exact: given all seeds
before, the guesses of a seed are dominated by a binomial. `epsilon_as_auc` is the first on the axis of AUCs.
`bound_p` is the p-value of a bound, and `refuted` 1 where it is refuted among all of the exhibit (Holm).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from cutlayer.metrics import declared
from cutlayer.metrics.audit import SHARES, guesses
from cutlayer.theory import audit

from .samples import unit
from .statistics import Sample, holm
from .worst import Rule, worst

SCORE, SLACK, PROMISE = "coin_auc", "coin_slack", "promise"
MEASURED, REFUTED = "auc_measured", "refuted"
DELTA = 1e-5  # as dp's; what is pure is this, too
ONE_SIDED = 0.5  # parts: the end of an interval of 90% leaves out 5%
RUN = ["setup", "defense", "setting"]
Row = dict[Any, Any]  # of the summarized cells


def of_worst(cells: pd.DataFrame, rule: Rule) -> pd.DataFrame:
    """Cells of the worst attacks of a rule's sets; if rows have coins with `coin_auc`, and with right guesses of the
    attack and sign chosen on earlier seeds, of which the first seed has none.
    """
    table, slack = worst(cells, rule), cells.loc[cells["metric"] == SLACK, [*RUN, "seed", "attack", "value"]]
    if slack.empty:
        return table
    slack = slack.rename(columns={"attack": "by", "value": SLACK})
    leaks = rule["leaks"].keys() - SHARES.keys()
    scores = cells[cells["metric"].isin([*leaks, SLACK])]
    audited = worst(scores, rule, less=SLACK) if scores["metric"].isin(leaks).any() else table
    own = audited[audited["metric"].isin(leaks) & (audited["skipped"] == "")].merge(slack, on=[*RUN, "seed", "by"])
    own = own.assign(metric=SCORE, value=own["value"] - own[SLACK]).drop(columns=SLACK)
    guesses = worst(cells[cells["metric"].isin(SHARES)], rule, earlier=True)
    kept = table[~table["metric"].isin(SHARES) | (table["skipped"] != "")]
    return pd.concat([kept, guesses[guesses["skipped"] == ""], own], ignore_index=True)


def with_audit(table: pd.DataFrame) -> pd.DataFrame:
    """Summarized cells (see `cells.summarize`) with what was measured; those without coins as they are."""
    runs = [own for _, own in table[table["metric"] == SCORE].groupby([*RUN, "attack", "scale"], sort=False)]
    if not runs:
        return table
    rows, tested = [], list[Row]()
    for own in runs:
        score = own.iloc[0].to_dict()
        rows += [*_by_auc(score), *_by_guesses(score, table)]
        tested += [_with(score, "bound_p", p) for p in _tested(score, table)]
    kept = holm([row["mean"] for row in tested])
    rows += [*tested, *(_with(row, REFUTED, float(one)) for row, one in zip(tested, kept, strict=True))]
    return pd.concat([table[~table["metric"].isin(SHARES)], pd.DataFrame(rows)], ignore_index=True)


def _with(row: Row, metric: str, value: float) -> Row:
    return row | {"metric": metric, "each": {}} | dict.fromkeys(("mean", "low", "high"), value)


def _of(row: Row, table: pd.DataFrame, attack: str, metric: str) -> Row | None:
    """The number of the same training and another attack or metric, if there is one."""
    own = table[(table["attack"] == attack) & (table["metric"] == metric) & (table["skipped"] == "")]
    own = own[(own[[*RUN, "scale"]] == pd.Series({key: row[key] for key in (*RUN, "scale")})).all(axis=1)]
    return None if own.empty else own.iloc[0].to_dict()


def sample(score: Row) -> Sample:
    """The values of a `coin_auc`; seeds that happen to lie close are no surer than the coins of one of them."""
    values = pd.Series(score["each"]).to_numpy(dtype=float)
    return Sample(values, own=score["error"], unit=unit(declared.AUC, pd.Series([score["rows"]]).to_numpy()))


def _by_auc(score: Row) -> Iterator[Row]:
    """What surely leaks by the AUC of an attack."""
    if len(score["each"]) > 1:
        least = max(0.5, sample(score).estimate(ONE_SIDED).low)
        yield _with(score, MEASURED, least)
        yield _with(score, "mu_measured", audit.mu(least))
        yield _with(score, "epsilon_of_mu", audit.gaussian_epsilon(audit.mu(least), DELTA))


def _by_guesses(score: Row, table: pd.DataFrame) -> Iterator[Row]:
    """What surely leaks by the right guesses of the attacks of the same set."""
    for name, share in SHARES.items():
        if (own := _of(score, table, score["attack"], name)) is not None:
            coins, seeds = int(own["rows"]), len(own["each"])
            count = guesses(coins, share)
            right = sum(round(value * count) for value in own["each"].values())
            found = audit.epsilon(right, seeds * count, seeds * coins, DELTA)
            yield _with(own, name.replace("coins_guessed", "epsilon_measured"), found)
            if share == 1:
                yield _with(own, "epsilon_as_auc", audit.auc(found))


def _tested(score: Row, table: pd.DataFrame) -> Iterator[float]:
    """The p-value of a defense's bound against any attack here, if it has one."""
    bound = _of(score, table, "", PROMISE)
    if bound is not None and score["attack"] == "any_attack" and len(score["each"]) > 1:
        yield (-sample(score).less(bound["mean"])).below()
