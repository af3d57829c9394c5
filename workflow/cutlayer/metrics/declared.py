"""The registry of metrics: for each its kind, range, better direction, the rows that it averages, and its error.

Nothing else infers meaning from a metric's name. A metric that is not declared is a number of any size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

SHARE, AUC, UTILITY, UNIT, CHANCE, BOUND = "share", "auc", "utility", "unit", "chance", "bound"
AMOUNT, COUNT, NUMBER, DEVIATION = "amount", "count", "number", "deviation"
LOG_LOSS, FACT = "log loss", "fact"
ROWS, COMMON, ERROR = "rows", "common", "error"  # beside CHANCE: facts about a case
POSITIVES, CASES, VULNERABLE = "positives", "cases", "vulnerable"
IN_UNIT = {SHARE, AUC, UTILITY, UNIT, CHANCE, BOUND}
FROM_0 = {AMOUNT, COUNT, LOG_LOSS, FACT}
MAJORITY = "majority"  # the share of the most common value among the attacked rows
OF_A_MODEL = ("gradient_norm", "residual", "slope_norm")  # scores of one attack that are evaluated apart


@dataclass(frozen=True)
class Metric:
    """The declaration of a metric.

    share: of the tested rows, or of those that `of` names; auc: of two classes; utility: an AUC of two classes and an
    accuracy of more; unit: another number between 0 and 1; chance: the value of random guessing; bound: an AUC that a
    defense guarantees; amount: 0 or more; count: a whole number; log loss: of a model; deviation: from a statement, of
    which the largest counts; fact: about its case, not shown in exhibits.
    """

    kind: str = NUMBER
    better: str = ""  # up or down, for the model that is attacked; empty where neither is
    of: str = ""  # of a share: the positives, the cases, or the vulnerable rows
    picked: bool = False  # selected with the truth, so that random guessing exceeds chance
    mirrored: bool = False  # 1 less it, as of an AUC, where a score is turned round
    redrawn: bool = False  # on rows that are drawn with the seed, so that its variance over seeds has their error
    timed: bool = False  # a time, which differs from run to run
    error: str = ""  # of an AUC: the metric with its standard error over rows (DeLong)
    fact: str = ""  # of its case: how many ROWS were tested, the share of the most COMMON value, CHANCE, an ERROR

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest possible value."""
        if self.kind in IN_UNIT:
            return 0.0, 1.0
        return (0.0, math.inf) if self.kind in FROM_0 else (-math.inf, math.inf)


def _named(metric: Metric, names: str) -> Iterator[tuple[str, Metric]]:
    return ((name, metric) for name in names.split())


def _scored(metric: Metric, names: str) -> Iterator[tuple[str, Metric]]:
    """Metrics of an attack, and of each score that is evaluated apart, whose error is unknown."""
    apart = " ".join(f"{name}_of_{score}" for name in names.split() for score in OF_A_MODEL)
    return chain(_named(metric, names), _named(replace(metric, error=""), apart))


METRICS: dict[str, Metric] = dict(
    [
        *_named(Metric(SHARE, "up"), "accuracy"),
        *_named(Metric(SHARE, "up", redrawn=True), "test_accuracy"),
        *_named(Metric(SHARE, "down"), "attack_accuracy changed_decisions"),
        *_named(Metric(SHARE, "down", picked=True), "attack_accuracy_max"),
        *_named(Metric(SHARE, fact=COMMON), f"{MAJORITY} task_majority"),
        *_scored(Metric(SHARE, "down", of=POSITIVES), "tpr_at_1pct"),
        *_named(Metric(SHARE, "down", of=VULNERABLE), "tpr_of_vulnerable"),
        *_named(Metric(SHARE, "down", of=CASES), "hit"),
        *_named(Metric(AUC, "up", redrawn=True, error="test_auc_error"), "test_auc"),
        *_named(Metric(AUC, "down", error="attack_auc_error"), "attack_auc"),
        *_scored(Metric(AUC, "down", error="leak_auc_error"), "leak_auc leak_auc_mean leak_auc_median"),
        *_scored(Metric(AUC, "down", error="leak_auc_adjusted_error"), "leak_auc_adjusted"),
        *_named(Metric(AUC, error="features_auc_error"), "features_auc"),
        *_named(Metric(AUC, error="features_auc_adjusted_error"), "features_auc_adjusted"),
        *_named(Metric(UTILITY, "up", redrawn=True, error="test_auc_error"), "test_utility"),
        *_scored(Metric(UTILITY, "down", error="leak_auc_error"), "attack_utility attack_utility_symmetrized"),
        *_named(Metric(UTILITY, "down", picked=True),
                "attack_utility_oracle attack_utility_known attack_utility_named attack_utility_better"),
        *_named(Metric(UTILITY, "down"), "attack_utility_again"),
        *_named(Metric(CHANCE), "uniform"),
        *_scored(Metric(CHANCE), "floor chance_floor"),
        *_named(Metric(BOUND), "promise promise_with_features"),
        *_named(Metric(SHARE, "down", mirrored=True), "coins_guessed coins_guessed_half coins_guessed_few"),
        *_named(Metric(AUC, "down", error="leak_auc_error"), "coin_auc"),
        *_named(Metric(UNIT), "coin_slack auc_measured epsilon_as_auc bound_p refuted"),
        *_named(Metric(AMOUNT), "mu_measured epsilon_of_mu"),
        *_named(Metric(AMOUNT), "epsilon_measured epsilon_measured_half epsilon_measured_few"),
        *_named(Metric(UNIT, "down"), "ace"),
        *_named(Metric(UNIT), "most_common positive_rate residual_negative residual_positive stopped threshold_broken"),
        *_named(Metric(UNIT), " ".join(f"share_of_{side}{more}" for side in ("negatives", "positives")
                                       for more in ("", "_alike"))),
        *_named(Metric(AMOUNT, "down"), "kl device_ce utility_loss"),
        *_named(Metric(AMOUNT, "down", timed=True), "seconds_per_step time_ratio"),
        *_named(Metric(LOG_LOSS, "down"), "test_log_loss"),
        *_named(Metric(AMOUNT, "up"), "mse half_star_mse ls_mse"),
        *_named(Metric(AMOUNT), "conditional_entropy entropy_given_guess theorem1_cross_entropies variance leakage"),
        *_named(Metric(AMOUNT), "gradient_norm_negative gradient_norm_positive"),
        *_named(Metric(AMOUNT), "slope_norm_negative slope_norm_positive"),
        *_scored(Metric(AMOUNT), "leak_gap_mean leak_gap_q95"),
        *_named(Metric(COUNT), "classes evaluations features guessed records task_specific values vulnerable"),
        *_named(Metric(COUNT), "pretraining_steps"),
        *_named(Metric(DEVIATION), "rcc2_over_half_star_excess half_star_over_half_excess"),
        *_named(Metric(FACT, fact=ROWS), "rows"),
        *_named(Metric(FACT, fact=CHANCE), "chance"),
        *_named(Metric(FACT, fact=ERROR), "leak_auc_error attack_auc_error test_auc_error"),
        *_named(Metric(FACT, fact=ERROR), "leak_auc_adjusted_error features_auc_error features_auc_adjusted_error"),
    ]
)  # fmt: skip


SHOWN = {  # on the site's boards and pages of methods, in this order
    "leak": ("leak_auc_mean", "attack_utility", "attack_auc", "attack_accuracy", "mse"),
    "utility": ("test_utility", "test_auc", "test_accuracy"),
    "time": ("time_ratio",),  # of a training step under the defense, to one without
}
FACTS = {name: metric.fact for name, metric in METRICS.items() if metric.fact}  # name -> the fact about its case


def of(name: str) -> Metric:
    """The declaration of a metric, by its name."""
    return METRICS.get(name, Metric())
