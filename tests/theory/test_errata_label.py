"""The errata of papers/marvell and papers/secdt, each shown by numbers; their names are those the files refer to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from cutlayer.core.seeds import generator
from cutlayer.games.split.defense import Context, Training
from cutlayer.games.vertical.equations import softmax
from cutlayer.gradient_noise import GradientNoise, optimal_noise, power_for
from cutlayer.metrics.leakage import leak_auc
from cutlayer.plan import plugins
from cutlayer.theory import marvell, secdt

PAPERS = Path(__file__).parents[2] / "workflow/papers"


# marvell: u is the variance of the negatives, v that of the positives, p the share of positives.


def problems(rng, count):
    """Random (u, v, dim, gap, p, power) of ordinary magnitudes."""
    for _ in range(count):
        u, v, gap, power = np.exp(rng.normal(0, 1.5, 4))
        yield u, v, int(rng.integers(2, 12)), gap, rng.uniform(0.05, 0.5), power


def test_the_printed_objective_has_u_for_the_negatives():
    """Twice the divergence plus 2 d, for any noise, if the negatives have u; not if they have v as section 4.2 says."""
    rng = generator("marvell 1")
    for u, v, dim, gap, _, _ in problems(rng, 30):
        difference = rng.normal(size=dim)
        difference *= np.sqrt(gap / (difference @ difference))
        noise = GradientNoise(*rng.exponential(1, 4), sum_kl=float("nan"))
        printed = marvell.objective(noise, u, v, dim, gap) / 2 - dim
        ours = marvell.symmetric_divergence(difference, *marvell.covariances(noise, u, v, difference))
        theirs = marvell.symmetric_divergence(difference, *marvell.covariances(noise, v, u, difference))
        assert printed == pytest.approx(ours, rel=1e-9)
        assert abs(theirs / printed - 1) > 1e-6


def test_the_printed_constraint_forbids_noise_on_positives():
    """With lambda_1^(1) <= 0 all that is left to choose is the negatives' noise, even where they vary more already."""
    u, v, dim, gap, p, power = 1.0, 0.2, 8, 2.0, 0.25, 6.0
    best = optimal_noise(u, v, dim, gap, p, power)
    assert best.positive_along > 0

    def spent_on_negatives(budget):
        """The least divergence if all of it goes to the negatives, along at least across."""
        most = budget / (1 - p)

        def divergence(along):
            noise = GradientNoise(along, (most - along) / (dim - 1), 0.0, 0.0, 0.0)
            return marvell.objective(noise, u, v, dim, gap) / 2 - dim

        return minimize_scalar(divergence, bounds=(most / dim, most), method="bounded").fun

    assert min(spent_on_negatives(budget) for budget in np.linspace(0, power, 101)) > 2 * best.sum_kl


def test_the_class_with_the_larger_variance_gets_no_noise_across():
    found = [0, 0]
    for u, v, dim, gap, p, power in problems(generator("marvell 3"), 200):
        noise = optimal_noise(u, v, dim, gap, p, power)
        larger, smaller = noise.negative_across, noise.positive_across
        if u < v:
            larger, smaller = smaller, larger
        assert larger == 0
        found[int(u > v)] += smaller > 0
    assert min(found) > 20  # with u > v it is lambda_2^(1) > 0, which the remark says is 0


def test_the_minimum_on_a_segment_is_inside_for_large_budgets():
    u, v, p = 1.0, 2.0, 0.25

    def ratio_sum(positives, budget):
        negatives = (budget - p * positives) / (1 - p)
        return (negatives + u) / (positives + v) + (positives + v) / (negatives + u)

    found = minimize_scalar(ratio_sum, bounds=(0, 5 / p), args=(5.0,), method="bounded", options={"xatol": 1e-9})
    assert found.x == pytest.approx(4.25, abs=1e-6)
    assert (5 - p * found.x) / (1 - p) == pytest.approx(5.25, abs=1e-6)
    assert found.fun == pytest.approx(2)
    ends = ratio_sum(np.array([0.0, 5 / p]), 5.0)
    assert ends.min() > 2.05
    small = minimize_scalar(ratio_sum, bounds=(0, 0.2 / p), args=(0.2,), method="bounded")
    assert small.x == pytest.approx(0, abs=1e-4)  # the remark's case: the class with the larger variance, for v >= u


def test_max_norm_leaves_the_norm_attack_an_auc_of_0_68():
    """Marvell 6: positives as long as the longest, negatives a thousandth of it."""
    gradient = torch.ones(20_000, 4)
    labels = np.arange(len(gradient)) % 2
    gradient[labels == 0] *= 1e-3
    draw = torch.Generator().manual_seed(0)
    training = Training(labels=torch.from_numpy(labels), classes=2, outputs=2, num_releases=1, generator=draw)
    sent = plugins.create("defense", "max_norm").backward(gradient, Context(training, torch.arange(len(labels))))
    left = leak_auc(sent.norm(dim=1).numpy() + 1e-9 * generator("ties").random(len(labels)), labels)
    assert left == pytest.approx(norm.cdf(1) - norm.cdf(-1), abs=0.01)


def test_our_cut_is_that_of_section_5_1():
    model = plugins.create("model", "wide_deep")
    assert (model.bottom_layers, model.top_layers) == (4, 2)
    assert plugins.create("model", "wide_deep", {"bottom_layers": 2, "top_layers": 2}) != model  # figure 1's caption


def test_the_sum_kl_of_a_target_error_bounds_every_detector():
    """Not an erratum: L, the divergence that it asks for and the power that reaches it fit together."""
    for error in (0.1, 0.2, 0.3, 0.4):
        assert marvell.detection_error(marvell.target(error)) == pytest.approx(error)
        power = power_for(1.0, 2.0, 8, 3.0, 0.2, marvell.target(error))
        assert optimal_noise(1.0, 2.0, 8, 3.0, 0.2, power).sum_kl <= marvell.target(error)
    assert marvell.auc_bound(marvell.target(0.4)) == pytest.approx(0.68)
    # Of normal distributions sqrt(sumKL) apart: the optimal AUC is Phi(sqrt(sumKL / 2)), within the bound.
    rng = generator("bound")
    labels = np.repeat([0, 1], 20_000)
    for sum_kl in (0.01, 0.16, 1.0):
        score = rng.normal(size=len(labels)) + np.sqrt(sum_kl) * labels
        assert 0.5 < leak_auc(score, labels) < marvell.auc_bound(sum_kl)


# secdt


def test_table_2_is_about_randomization():
    """Between its rows three attacks fall by 7 to 13 points, the norm attack, which normalization stops, by none."""
    table = pd.read_csv(PAPERS / "secdt/published.csv").query("item == 'table2' and metric == 'attack_utility'")
    rows = table.pivot(index=["dataset", "target"], columns="method", values="value")
    fall = rows["without_randomization"] - rows["with_randomization"]
    assert fall.xs("norm", level="target").abs().max() < 0.1
    assert fall.drop("norm", level="target").min() > 7


def test_the_abstract_reduces_more_than_the_tables_leave():
    """Four attacks of AUC 1 that fall to the printed AUCs fall by less, but without the decoding map."""
    table = pd.read_csv(PAPERS / "secdt/published.csv").query("dataset == 'avazu'")
    said = table.query("item == 'abstract'")["value"].item()
    printed = table.query("item in ['table1', 'table2'] and metric == 'attack_utility'")
    most = 1 - printed.groupby(["item", "method"])["value"].mean() / 100
    assert (most > said - 0.0127).to_dict() == {
        ("table1", "with_decrease"): False, ("table1", "without_decrease"): True,
        ("table2", "with_randomization"): False, ("table2", "without_randomization"): False,
    }  # fmt: skip


def test_only_softmax_noise_keeps_targets_positive():
    """Algorithm 1's targets and equation 16's, of the defense that is run."""
    labels = torch.from_numpy(generator("secdt 2").integers(0, 2, 500))
    draw = torch.Generator().manual_seed(0)
    training = Training(labels=labels, classes=2, outputs=20, num_releases=1, generator=draw)
    found = {}
    for form in ("softmax", "raw"):
        defense = plugins.create("defense", "secdt", {"noise": 0.3, "noise_form": form}, "split")
        found[form] = defense.soft_labels(Context(training, torch.arange(500), defense.begin(training)))
    assert found["softmax"].min() > 0
    torch.testing.assert_close(found["softmax"].sum(dim=1), torch.full((500,), 1.3))
    assert (found["raw"].min(dim=1).values < 0).all()
    assert found["raw"].sum(dim=1).std() > 1


def test_normalized_gradients_leave_the_norm_attack_nothing():
    """Exactly 1/2 but for rounding: norms that told the classes apart are equal to 15 digits, and tie at 12."""
    rng = generator("secdt 3")
    labels = (rng.random(400) < 0.2).astype(int)
    gradients = rng.normal(size=(400, 16)) * (1 + 3 * labels)[:, None]
    assert leak_auc(np.linalg.norm(gradients, axis=1), labels) > 0.95
    norms = np.linalg.norm(secdt.normalized(gradients), axis=1)
    np.testing.assert_allclose(norms, np.linalg.norm(gradients, axis=1).mean(), rtol=1e-14)
    assert leak_auc(norms.round(12), labels) == 0.5


def test_no_soft_prediction_is_in_a_pool():
    rng = generator("secdt 4")
    pools = np.array_split(rng.permutation(20), 2)
    soft = softmax(3 * rng.normal(size=(300, 20)))
    assert (secdt.maximum_map_as_printed(soft, pools) == -1).all()
    hard = np.eye(20)[soft.argmax(axis=1)]
    np.testing.assert_array_equal(secdt.maximum_map_as_printed(hard, pools), secdt.maximum_map(soft, pools))
    assert (secdt.maximum_map(soft, pools) != secdt.weighted_map(soft, pools)).any()  # which table 1 compares


def test_appendix_e_does_not_hold():
    """Normalization is not additive; and |x|, Lipschitz with L = 1, breaks equation 22."""
    rng = generator("secdt 5")
    first, second = rng.normal(size=(2, 8, 4))
    together = secdt.normalized(first + second)
    assert np.abs(together - secdt.normalized(first) - secdt.normalized(second)).max() > 0.1
    np.testing.assert_allclose(secdt.normalized(3 * first), 3 * secdt.normalized(first))  # it does scale with a batch
    theta, rate, slope = 0.1, 1.0, 1.0
    assert abs(theta - rate * slope) > abs(theta) - rate * slope * slope + rate**2 * slope**2 / 2
