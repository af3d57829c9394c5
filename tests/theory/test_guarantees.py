"""Bounds as numbers: each against a simulation of the optimal score, over as many releases as there are."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from dp_accounting.pld import privacy_loss_distribution as pld

from cutlayer.core.seeds import generator
from cutlayer.information import gaussian_leakage
from cutlayer.metrics.leakage import chance_floor, leak_auc
from cutlayer.theory import accounting, marvell, tcpo

SIGMAS = 5.0
ROWS = 40_000
LABELS = np.arange(ROWS) % 2
ERROR = SIGMAS * chance_floor(ROWS // 2, ROWS // 2) / 1.96


@pytest.mark.parametrize("sum_kl", [0.1, 1.0])
@pytest.mark.parametrize("epochs", [1, 6])
def test_marvell_s_sum_kl_composes_to_what_the_likelihood_ratio_gets(sum_kl, epochs):
    """One coordinate with the variance of which sumKL is that of theorem 1: gap (1/A + 1/B) / 2 = gap / A."""
    draw = generator("composed", sum_kl, epochs)
    seen = LABELS + draw.standard_normal((epochs, ROWS)) / math.sqrt(sum_kl)
    assert marvell.symmetric_divergence(np.ones(1), *2 * [np.eye(1) / sum_kl]) == pytest.approx(sum_kl)
    assert leak_auc(seen.sum(axis=0), LABELS) == pytest.approx(marvell.composed_auc(sum_kl, epochs), abs=ERROR)


def test_what_is_composed_is_no_more_than_the_bound_for_all_divergence_together():
    for total in (0.01, 0.1, 0.5, 1.0, 3.9):
        assert marvell.composed_auc(total / 6, 6) <= marvell.auc_bound(total)
    assert marvell.composed_auc(0.0, 9) == 0.5


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_the_dimension_of_a_spread_is_the_number_of_directions_it_fills_alike(unit):
    draw = generator("dimension")
    for rank in (1, 3, 8):
        basis = np.linalg.qr(draw.standard_normal((8, rank)))[0]
        rows = draw.standard_normal((100_000, rank)) @ basis.T
        assert marvell.dimension(unit * rows) == pytest.approx(rank, rel=0.01)
    assert marvell.dimension(np.ones((5, 3))) == 0
    uneven = draw.standard_normal((100_000, 2)) * [2.0, 1.0]
    assert marvell.dimension(uneven) == pytest.approx(25 / 17, rel=0.02)


@pytest.mark.parametrize(("epsilon", "num_releases"), [(1.0, 6), (10.0, 1), (10.0, 16)])
def test_the_worst_leak_of_accounted_gaussian_noise_is_reached_by_inputs_as_far_apart_as_they_may_be(
    epsilon, num_releases
):
    draw = generator("gaussian", epsilon, num_releases)
    sigma = accounting.gaussian_deviation(epsilon, 1e-5, num_releases, 1.0)
    seen = LABELS + sigma * draw.standard_normal((num_releases, ROWS))
    bound = accounting.gaussian_auc(epsilon, 1e-5, num_releases)
    assert leak_auc(seen.sum(axis=0), LABELS) == pytest.approx(bound, abs=ERROR)
    composed = pld.from_gaussian_mechanism(sigma, value_discretization_interval=accounting.INTERVAL)
    assert accounting.largest_auc(composed.self_compose(num_releases)) == pytest.approx(bound, abs=1e-4)


@pytest.mark.parametrize(("epsilon", "num_releases"), [(1.0, 6), (10.0, 4)])
def test_the_worst_leak_of_accounted_laplace_noise_is_what_the_likelihood_ratio_gets(epsilon, num_releases):
    draw = generator("laplace", epsilon, num_releases)
    scale = accounting.laplace_deviation(epsilon, 1e-5, num_releases) / math.sqrt(2)
    seen = LABELS + scale * draw.laplace(size=(num_releases, ROWS))
    ratio = (np.abs(seen) - np.abs(seen - 1)).sum(axis=0) / scale
    bound = accounting.laplace_auc(epsilon, 1e-5, num_releases)
    assert leak_auc(ratio, LABELS) == pytest.approx(bound, abs=ERROR + 1e-3)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_the_worst_leak_of_randomized_response_is_the_chance_of_the_truth_for_two_labels(epsilon):
    kept = math.exp(epsilon) / (1 + math.exp(epsilon))
    assert accounting.response_auc(epsilon, 2) == pytest.approx(kept, abs=1e-3)


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_worst_leak_of_randomized_response_among_many_labels(epsilon):
    """By hand: what is drawn is the one label, the other, or neither, with likelihood ratios in that order."""
    kept, other = (weight / (9 + math.exp(epsilon)) for weight in (math.exp(epsilon), 1.0))
    neither = 1 - kept - other
    meant = kept * (kept + neither) + neither * kept + (2 * kept * other + neither**2) / 2
    assert accounting.response_auc(epsilon, 10) == pytest.approx(meant, abs=1e-3)


def test_more_sendings_of_the_same_noise_leak_more_and_accounted_noise_does_not():
    one = pld.from_gaussian_mechanism(4.0, value_discretization_interval=accounting.INTERVAL)
    assert accounting.largest_auc(one) < accounting.largest_auc(one.self_compose(9))
    accounted = [accounting.gaussian_auc(5.0, 1e-5, num_releases) for num_releases in (1, 9, 100)]
    assert accounted == pytest.approx([accounted[0]] * 3, abs=1e-3)


@pytest.mark.parametrize("values", [2, 4])
@pytest.mark.parametrize("apart", [0.1, 0.3, 1.0])
def test_no_score_tells_gaussian_features_better_than_their_privacy_loss_allows(values, apart):
    """The best score of one value against all others is the likelihood ratio of the mixture."""
    draw = generator("tcpo", values, apart)
    attribute = draw.permutation(np.arange(ROWS) % (values + 1) % values)  # the first value is twice as common
    means = apart * np.eye(values)[attribute]
    seen = means + draw.standard_normal(means.shape)
    leakage = gaussian_leakage(torch.from_numpy(means), torch.from_numpy(attribute), 1.0).item()
    density = np.exp(apart * seen)  # of each value, up to what all have in common
    shares = np.bincount(attribute) / ROWS
    scores = density * shares / (density @ shares)[:, None]
    found = [leak_auc(score, (attribute == value).astype(int)) for value, score in enumerate(scores.T)]
    bound = tcpo.auc_bound(leakage, shares)
    assert np.mean(found) <= bound + ERROR
    assert bound < 1


def test_a_privacy_loss_of_nothing_and_an_attribute_that_all_share_bound_the_auc_by_chance():
    assert tcpo.auc_bound(0.0, np.array([0.3, 0.7])) == 0.5
    assert tcpo.auc_bound(0.1, np.array([1.0, 0.0])) == 0.5
