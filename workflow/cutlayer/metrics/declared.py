"""Every metric, declared once: its kind, what it can be, which direction is better, and which rows it is an average of.

Nothing else reads meaning out of a metric's name. A metric that is not declared is a number of any size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

SHARE, AUC, UTILITY, UNIT, CHANCE, BOUND = "share", "auc", "utility", "unit", "chance", "bound"
AMOUNT, COUNT, NUMBER, DEVIATION = "amount", "count", "number", "deviation"
POSITIVES, CASES, VULNERABLE = "positives", "cases", "vulnerable"
IN_UNIT = {SHARE, AUC, UTILITY, UNIT, CHANCE, BOUND}
OF_A_MODEL = ("gradient_norm", "residual", "slope_norm")  # scores of one attack that are scored apart


@dataclass(frozen=True)
class Metric:
    """What a metric is.

    share: of the tested rows, or of those that `of` names; auc: of two classes; utility: an AUC of two classes and an
    accuracy of more; unit: another number between 0 and 1; chance: what random guessing reaches; bound: an AUC that a
    defense guarantees; amount: 0 or more; count: a whole number; deviation: from a statement, of which the largest
    counts.
    """

    kind: str = NUMBER
    better: str = ""  # up or down, for the model that is attacked; empty where neither is
    of: str = ""  # of a share: the positives, the cases, or the vulnerable rows
    picked: bool = False  # chosen with the truth, so that random guessing reaches more than chance
    redrawn: bool = False  # of rows that are drawn with the seed, so that its scatter over seeds has their error

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest value."""
        if self.kind in IN_UNIT:
            return 0.0, 1.0
        return (0.0, math.inf) if self.kind in (AMOUNT, COUNT) else (-math.inf, math.inf)


def _named(metric: Metric, names: str) -> Iterator[tuple[str, Metric]]:
    return ((name, metric) for name in names.split())


def _scores(names: Iterable[str]) -> str:
    """These metrics of an attack, and of each score that is scored apart."""
    return " ".join(f"{name}{of}" for name in names for of in ("", *(f"_of_{score}" for score in OF_A_MODEL)))


METRICS: dict[str, Metric] = dict(
    [
        *_named(Metric(SHARE, "up"), "accuracy"),
        *_named(Metric(SHARE, "up", redrawn=True), "test_accuracy"),
        *_named(Metric(SHARE, "down"), "attack_accuracy changed_decisions"),
        *_named(Metric(SHARE, "down", picked=True), "attack_accuracy_max"),
        *_named(Metric(SHARE), "majority task_majority"),
        *_named(Metric(SHARE, "down", of=POSITIVES), _scores(["tpr_at_1pct"])),
        *_named(Metric(SHARE, "down", of=VULNERABLE), "tpr_of_vulnerable"),
        *_named(Metric(SHARE, "down", of=CASES), "hit"),
        *_named(Metric(AUC, "up", redrawn=True), "test_auc"),
        *_named(Metric(AUC, "down"), "attack_auc"),
        *_named(Metric(AUC, "down"), _scores(["leak_auc", "leak_auc_mean", "leak_auc_median"])),
        *_named(Metric(UTILITY, "up", redrawn=True), "test_utility"),
        *_named(Metric(UTILITY, "down"), _scores(["attack_utility", "attack_utility_symmetrized"])),
        *_named(Metric(UTILITY, "down", picked=True), "attack_utility_oracle"),
        *_named(Metric(CHANCE), _scores(["floor", "chance_floor", "chance"]) + " uniform"),
        *_named(Metric(BOUND), "promise"),
        *_named(Metric(UNIT, "down"), "ace"),
        *_named(Metric(UNIT), "most_common positive_rate residual_negative residual_positive stopped threshold_broken"),
        *_named(Metric(UNIT), " ".join(f"share_of_{side}{more}" for side in ("negatives", "positives")
                                       for more in ("", "_alike"))),
        *_named(Metric(AMOUNT, "down"), "kl test_log_loss device_ce utility_loss seconds_per_step time_ratio"),
        *_named(Metric(AMOUNT, "up"), "mse half_star_mse ls_mse"),
        *_named(Metric(AMOUNT), "conditional_entropy entropy_given_guess theorem1_cross_entropies variance"),
        *_named(Metric(AMOUNT), "gradient_norm_negative gradient_norm_positive"),
        *_named(Metric(AMOUNT), "slope_norm_negative slope_norm_positive"),
        *_named(Metric(AMOUNT), _scores(["leak_gap_mean", "leak_gap_q95"])),
        *_named(Metric(COUNT), "classes evaluations features records task_specific values vulnerable"),
        *_named(Metric(COUNT), "pretraining_steps"),
        *_named(Metric(DEVIATION), "theorem2_gap theorem3_gap theorem4_gap pps_gap theorem2_bounds_excess"),
        *_named(Metric(DEVIATION), "theorem3_excess theorem4_excess half_star_over_half_excess"),
        *_named(Metric(DEVIATION), "rcc2_over_half_star_excess"),
    ]
)  # fmt: skip


def of(name: str) -> Metric:
    """A metric by its name."""
    return METRICS.get(name, Metric())
