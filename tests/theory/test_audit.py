"""Lower bounds from guesses of coins: known values, mechanisms of known epsilon, and how often they are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from cutlayer.core.seeds import generator
from cutlayer.metrics.audit import guessed, guesses
from cutlayer.theory import audit
from cutlayer.theory.accounting import gaussian_auc, response_auc

COINS, DELTA = 5000, 1e-5
MU = 0.26805  # of (1, 1e-5)


def response(epsilon: float, coins: int, *name: object) -> int:
    """How many of so many coins randomized response keeps."""
    return int(generator("test_audit", epsilon, *name).binomial(coins, expit(epsilon)))


def test_the_value_of_jax_privacy():
    assert audit.p_value(1.0, 3703, COINS, COINS) == pytest.approx(0.06567, abs=5e-6)
    assert audit.epsilon(3703, COINS, COINS) == pytest.approx(0.99565, abs=5e-6)


@pytest.mark.parametrize(
    ("epsilon", "coins", "median", "low", "high"),
    [
        (1.0, 1000, 0.876, 0.779, 0.997),
        (1.0, 5000, 0.948, 0.887, 0.995),
        (0.5, 5000, 0.445, 0.38, 0.50),
        (2.0, 5000, 1.928, 1.85, 2.00),
        (4.0, 5000, 3.822, 3.62, 4.01),
    ],
)
def test_randomized_response_is_measured_a_little_below_its_epsilon(epsilon, coins, median, low, high):
    found = [audit.epsilon(response(epsilon, coins, trial), coins, coins) for trial in range(40)]
    assert np.median(found) == pytest.approx(median, abs=0.03)
    assert np.mean([low <= one <= high for one in found]) >= 0.8


def test_nothing_is_measured_where_nothing_is_sent():
    assert np.mean([audit.epsilon(response(0.0, COINS, trial), COINS, COINS) == 0 for trial in range(100)]) >= 0.9


@pytest.mark.parametrize("delta", [0.0, DELTA])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 3.0])
def test_an_honest_mechanism_is_refuted_at_most_as_often_as_is_said(epsilon, delta):
    """Exactly: all numbers of right guesses that would refute it together have a probability of at most 5%."""
    right = np.arange(301)
    refuted = [audit.p_value(epsilon, int(one), 300, 300, delta) < audit.SURE for one in right]
    assert binom.pmf(right, 300, expit(epsilon))[refuted].sum() <= audit.SURE


def test_a_broken_mechanism_is_refuted():
    """It says epsilon 1 and draws at 1.5."""
    assert audit.p_value(1.0, 4088, COINS, COINS) < 1e-40
    assert audit.p_value(1.0, response(1.5, COINS), COINS, COINS, DELTA) < 1e-3


def test_the_largest_epsilon_ruled_out_is_where_the_p_value_is_5_percent():
    found = audit.epsilon(700, 1000, 1000, DELTA)
    assert audit.p_value(found, 700, 1000, 1000, DELTA) == pytest.approx(audit.SURE)
    assert audit.epsilon(700, 1000, 1000) > found > audit.epsilon(700, 1000, 1000, 1e-3)
    assert audit.epsilon(1000, 1000, 1000) == pytest.approx(np.log(0.05 ** (1 / 1000) / (1 - 0.05 ** (1 / 1000))))


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 10.0])
def test_a_gaussian_mechanism_has_the_auc_and_the_epsilon_of_its_mu(epsilon):
    mu = audit.mu(gaussian_auc(epsilon, DELTA, 1))
    assert audit.gaussian_epsilon(mu, DELTA) == pytest.approx(epsilon, rel=1e-3)


def test_known_values_of_a_gaussian_mechanism():
    assert audit.mu(0.57517) == pytest.approx(MU, abs=1e-4)
    assert audit.gaussian_epsilon(0.222, DELTA) == pytest.approx(0.81, abs=0.005)
    assert (audit.gaussian_epsilon(0.0, DELTA), audit.gaussian_epsilon(np.inf, DELTA)) == (0.0, np.inf)
    assert audit.auc(1.0) == pytest.approx(response_auc(1.0, 2))


@pytest.mark.parametrize(("name", "expected"), [("coins_guessed", 0.163), ("coins_guessed_half", 0.274)])
def test_a_gaussian_mechanism_is_measured_far_below_its_epsilon(name, expected):
    """As audits of one run do: few guesses are sure."""
    found = []
    for trial in range(40):
        draw = generator("test_audit gaussian", trial)
        coins = draw.integers(2, size=COINS)
        share = guessed(MU * coins + draw.standard_normal(COINS), coins)[name]
        count = guesses(COINS, 0.5 if name.endswith("half") else 1)
        found.append(audit.epsilon(round(share * count), count, COINS, DELTA))
    assert np.median(found) == pytest.approx(expected, abs=0.03)


def test_guesses_are_of_the_scores_farthest_from_the_middle():
    coins = np.tile([0, 1], 500)
    score = np.where(np.arange(1000) < 20, 10.0 * (2 * coins - 1), 0.001 * (1 - 2 * coins))  # few are told, and rightly
    assert guessed(score, coins) == {
        "coins_guessed": 0.02, "coins_guessed_half": 0.04, "coins_guessed_few": 1.0
    }  # fmt: skip
    assert guessed(-score, coins)["coins_guessed"] == pytest.approx(0.98)


def test_a_score_of_two_values_guesses_all_however_many_have_each():
    draw = generator("test_audit two values")
    for share in (0.3, 0.5, 0.7):
        coins = (draw.random(1000) < share).astype(int)
        assert guessed(coins.astype(float), coins)["coins_guessed"] == 1.0


def test_what_is_not_scored_is_guessed_last():
    coins = np.array([1, 0, 1, 0, 1, 1, 1, 1])
    score = np.array([5.0, -5.0, 4.0, -4.0, *4 * [np.nan]])
    assert guessed(score, coins)["coins_guessed_half"] == 1.0
