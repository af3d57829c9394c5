"""Equations 64 to 71 of the chebyshev paper: one feature, reconstructed without knowing weight or bias."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.vertical.attacks.black_box import reconstruct
from cutlayer.games.vertical.equations import softmax
from cutlayer.plan import plugins

features = arrays(float, st.integers(1, 30), elements=st.integers(0, 100)).map(lambda whole: whole / 100)
weights = st.floats(0.1, 5)
signs = st.sampled_from([-1, 1])
CASES = {"zero_bias": (2.0, 0.0), "same_sign": (-2.0, -0.5), "opposite_sign": (2.0, -3.0)}  # w and b
every_case = pytest.mark.parametrize("case", CASES)


def error(guess, X):
    return np.mean(np.square(guess - X))


@given(features, weights, signs)
def test_without_bias_the_error_is_at_most_that_of_the_first_guess(X, weight, sign):
    """Equation 65."""
    v = sign * weight * X
    guess = reconstruct(v, "zero_bias")
    assert error(guess, X) <= (X.max() - 1) ** 2 + 1e-12
    if v.any():
        np.testing.assert_allclose(guess * X.max(), X, atol=1e-12)


@given(features, weights, st.floats(0.1, 5), signs)
def test_same_sign_is_bounded_by_the_two_first_guesses(X, weight, bias, sign):
    """Equation 71; where all observations are one, both first guesses are of the same prediction."""
    guess = reconstruct(sign * (weight * X + bias), "same_sign")
    assert error(guess, X) <= (X.max() - 1) ** 2 + X.min() ** 2 + 1e-12
    assert (guess.min(), guess.max()) == ((0, 1) if X.min() < X.max() else (0, 0))


@given(features, weights, st.floats(0.1, 5), signs)
def test_opposite_sign_is_bounded_where_all_observations_have_one_sign(X, weight, beyond, sign):
    """Section VI-C1: b is beyond what w X can reach, so that the largest magnitude is X close to 0."""
    guess = reconstruct(sign * (weight * X - weight - beyond), "opposite_sign")
    assert error(guess, X) <= (X.max() - 1) ** 2 + X.min() ** 2 + 1e-12
    assert np.all(np.diff(guess[np.argsort(X)]) >= -1e-12)


@given(features.filter(lambda X: X.max() - X.min() >= 0.02), weights, signs)
def test_mixed_signs_leave_one_half(X, weight, sign):
    """Section VI-C2: the bias is between the observations, whose signs then say nothing of its own."""
    bias = -weight * (X.min() + X.max()) / 2
    np.testing.assert_array_equal(reconstruct(sign * (weight * X + bias), "opposite_sign"), 0.5)


@every_case
def test_one_prediction_gives_its_first_guess(case):
    w, b = CASES[case]
    assert reconstruct(np.array([w * 0.7 + b]), case) == {"zero_bias": 1, "same_sign": 0, "opposite_sign": 1}[case]


@pytest.mark.parametrize("case", ["same_sign", "opposite_sign"])
def test_observations_that_differ_by_rounding_are_one(case):
    """Equal features read off scores: taken for two, rounding would decide which of them is 0 and which is 1."""
    v = 3.1 * np.array([1.0, 1.0 + 2e-15, 1.0 - 3e-15])
    np.testing.assert_array_equal(reconstruct(v, case), 0 if case == "same_sign" else 1)


@every_case
def test_the_error_vanishes_with_the_number_of_predictions(case):
    (w, b), rng = CASES[case], generator("black_box", case)

    def expected(n):
        return np.mean([error(reconstruct(w * X + b, case), X) for X in rng.random((200, n))])

    few, more, many = expected(3), expected(30), expected(300)
    assert many < more / 5 < few / 25


@every_case
def test_a_feature_that_spans_the_interval_is_found_exactly(case):
    w, b = CASES[case]
    X = np.concatenate([[0.0, 1.0], generator("spans").random(20)])
    np.testing.assert_allclose(reconstruct(w * X + b, case), X, atol=1e-12)


@pytest.mark.parametrize("scale", [1.0, -3.0])
def test_the_attack_needs_neither_weight_nor_bias(scale):
    """The same guess for any model whose w and b differ by a common factor, from the scores alone."""
    rng = generator("needs neither")
    X, active, own = rng.random((20, 1)), rng.random((20, 3)), rng.normal(size=(2, 3))
    method, guesses = plugins.create("attack", "black_box", {"case": "same_sign"}), []
    for factor in (1.0, scale):
        logits = active @ own.T + factor * (X @ np.array([[0.5, 2.0]]) + np.array([0.2, 0.9]))
        seen = {"scores": softmax(logits), "active_features": active, "active_weights": own}
        guesses.append(method.infer(View("black_box", method.sees, seen, rng)))
    np.testing.assert_allclose(guesses[0], guesses[1], atol=1e-10)
    assert error(guesses[0], X) <= (X.max() - 1) ** 2 + X.min() ** 2
