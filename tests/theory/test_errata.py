"""The errata of papers/chebyshev/paper.yaml, each shown by numbers; their names are those the file refers to."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize
from scipy.special import rel_entr
from tests.params import params

from cutlayer import polytope
from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.vertical.defense import Context
from cutlayer.games.vertical.equations import difference_matrix, softmax
from cutlayer.games.vertical.windows import windows
from cutlayer.plan import plugins
from cutlayer.theory.chebyshev import row_space, theorem4


def divergences(x, weights, known, seen):
    """D(c^ || c) and D(c || c^) in nats of the scores c^ of x (N x d) from those seen (N x k)."""
    guess = softmax(known + x @ weights.T)
    return rel_entr(guess, seen).sum(axis=1), rel_entr(seen, guess).sum(axis=1)


def test_divergence_from_the_guess_is_not_convex():
    """Two classes, one feature: log-odds from -5 to 5 over [0, 1], seen scores one half each."""
    weights, known, seen = np.array([[0.0], [10.0]]), np.array([[0.0, -5.0]]), np.array([[0.5, 0.5]])
    ends, middle = np.array([[0.75], [1.0]]), np.array([[0.875]])
    assert divergences(middle, weights, known, seen)[0] > divergences(ends, weights, known, seen)[0].mean() + 0.01
    # The other divergence never violates midpoint convexity, this one does so often.
    rng, violations = generator("erratum2"), np.zeros(2, dtype=int)
    for _ in range(300):
        k, d = rng.integers(2, 6), rng.integers(1, 6)
        W, fixed, c = 3 * rng.normal(size=(k, d)), rng.normal(size=k), softmax(3 * rng.normal(size=(1, k)))
        left, right = rng.random((2, 20, d))
        mean = np.add(divergences(left, W, fixed, c), divergences(right, W, fixed, c)) / 2
        excess = np.array(divergences((left + right) / 2, W, fixed, c)) - mean
        violations += (excess > 1e-12).sum(axis=1)
    assert violations[0] > 100
    assert violations[1] == 0


def test_gia_descends_the_divergence_from_the_guess():
    """Adam's first step has the sign of the slope; the two divergences differ in it for some predictions."""
    rng = generator("first step")
    W, known, c = rng.normal(size=(3, 1)), 2 * rng.normal(size=(200, 3)), softmax(3 * rng.normal(size=(200, 3)))
    below, above = (divergences(np.full((200, 1), x), W, known, c) for x in (0.5 - 1e-6, 0.5 + 1e-6))
    ours, other = (np.sign(high - low) for low, high in zip(below, above, strict=True))
    assert (ours != other).any()
    method = plugins.create("attack", "gia", {"start": "half", "steps": 1})
    own = {"active_features": known, "active_weights": np.eye(3), "bias": np.zeros(3)}
    seen = own | {"scores": c, "passive_weights": W}
    moved = method.infer(View("gia", method.sees, seen, rng))[:, 0] - 0.5
    np.testing.assert_array_equal(np.sign(moved), -ours)


def test_lemma3_needs_independent_rows():
    """With fewer features than equations the noise's effect depends on how the adversary writes the equations."""
    rng = generator("erratum3")
    for k, d, independent in ((4, 5, True), (4, 3, True), (4, 2, False), (3, 1, False)):
        J, R = difference_matrix(k), rng.normal(size=(k - 1, k - 1))
        A = J @ rng.normal(size=(k, d))
        written, rewritten = theorem4(A, J)["gain"], theorem4(R @ A, R @ J)["gain"]
        assert (np.abs(written - rewritten) < 1e-8 * written) == independent
        assert np.allclose(np.linalg.pinv(R @ A), np.linalg.pinv(A) @ np.linalg.inv(R)) == independent
        # What remark 3 concludes holds all the same, only its argument does not.
        np.testing.assert_allclose(row_space(R @ A), row_space(A), atol=1e-9)


def scheme1(z, v, budget):
    """Equations 91 to 93 as printed."""
    noise = np.where(z == z.max(axis=1, keepdims=True), v.max(), v)
    return softmax(z + np.sqrt(budget) * noise / np.linalg.norm(noise, axis=1, keepdims=True))


def test_scheme1_is_inert_on_one_of_two_classes():
    rng = generator("erratum4")
    context = Context(rng.normal(size=(2, 3)), rng.random((9, 3)), rng)
    z, v = rng.normal(size=(50, 2)), theorem4(context.coefficients, difference_matrix(2))["direction"]
    np.testing.assert_allclose(v, np.array([-1, 1]) / np.sqrt(2))
    for sign, inert in ((1, 0), (-1, 1)):  # either sign of v_1 is a right singular vector
        moved = np.abs(scheme1(z, sign * v, 1.0) - softmax(z)).max(axis=1)
        assert moved[z.argmax(axis=1) == inert].max() < 1e-15
        assert moved[z.argmax(axis=1) != inert].min() > 0.001
    ours = plugins.create("defense", "score_noise", {"scheme": 1, "budget": 1.0}).reveal(z, context)
    np.testing.assert_allclose(ours, scheme1(z, v, 1.0), atol=1e-15)
    # Scheme 3's + alpha 1 is inert under softmax.
    np.testing.assert_allclose(softmax(0.7 * z + 0.3), softmax(0.7 * z), atol=1e-15)


def test_minus_identity_needs_the_bias_shift():
    rng = generator("erratum5")
    context, bias = Context(rng.normal(size=(3, 4)), rng.random((30, 4)), rng), rng.normal(size=3)
    scores = softmax(context.features @ context.weights.T + bias)
    weights, shifted = plugins.create("defense", "pps").publish(context.weights, bias, context)
    np.testing.assert_allclose(softmax((1 - context.features) @ weights.T + shifted), scores, atol=1e-14)
    assert np.abs(softmax((1 - context.features) @ weights.T + bias) - scores).max() > 0.1
    # Trained again on 1 - x, a model has the same logits unless its bias is penalized.
    x = rng.random(200)
    sign = np.where(rng.random(200) < x, 1, -1)

    def logits(feature, penalty):
        def loss(p):
            return np.logaddexp(0, -sign * (p[0] * feature + p[1])).mean() + 0.01 * (p[0] ** 2 + penalty * p[1] ** 2)

        w, b = minimize(loss, [0, 0], tol=1e-10).x
        return w * feature + b

    np.testing.assert_allclose(logits(1 - x, 0), logits(x, 0), atol=1e-4)
    assert np.abs(logits(1 - x, 1) - logits(x, 1)).max() > 0.01


def equation16(A, b, basis, only_diagonal):
    """Equation 31 with the multipliers of equation 16, or of the published code's condition on the diagonal."""
    q = np.linalg.pinv(A) @ b
    alpha = cp.Variable(len(q), nonneg=True)
    matrix, linear = basis.T @ cp.diag(alpha) @ basis, basis.T @ cp.multiply(q - 0.5, alpha)
    bounded = cp.diag(matrix) >= 1 if only_diagonal else matrix >> np.eye(basis.shape[1])
    objective = cp.matrix_frac(linear, matrix) + q * (1 - q) @ alpha  # t = -q (1 - q)
    tight = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
    cp.Problem(cp.Minimize(objective), [bounded]).solve(solver=cp.CLARABEL, **tight)
    return q - basis @ np.linalg.solve(matrix.value, linear.value)


def test_diagonal_condition_is_not_the_matrix_inequality():
    A, x = np.array([[1.0, -2.0, 0.5, 3.0]]), np.array([0.9, 0.1, 0.2, 0.3])
    ours = polytope.relaxed_center(A, (A @ x)[None])[0]
    basis = np.linalg.svd(A)[2][1:].T
    turned = basis @ np.linalg.qr(generator("erratum7").normal(size=(3, 3)))[0]
    exact = [equation16(A, A @ x, W, only_diagonal=False) for W in (basis, turned)]
    published = [equation16(A, A @ x, W, only_diagonal=True) for W in (basis, turned)]
    for center in exact:
        np.testing.assert_allclose(center, ours, atol=1e-5)
    assert np.abs(published[0] - ours).max() > 1e-2
    assert np.abs(published[1] - ours).max() > 1e-2
    assert np.abs(published[0] - published[1]).max() > 1e-2


def test_employment_variation_rate_is_the_fifteenth_column():
    names = plugins.create("dataset", "bank").feature_names
    assert len(names) == 19
    assert "duration" not in names
    assert names[14] == "emp.var.rate"
    setup = params()["setups"]["bank_one_feature"]
    assert windows(len(names), {}, setup["passive"], names) == [(1, 14)]


def test_scheme2_as_printed_ties():
    rng = generator("erratum10")
    context, z = Context(rng.normal(size=(4, 5)), rng.random((9, 5)), rng), rng.normal(size=(500, 4))
    top = z == z.max(axis=1, keepdims=True)
    shifted = z + theorem4(context.coefficients, difference_matrix(4))["direction"]
    printed = np.where(top, shifted.max(axis=1, keepdims=True), shifted)  # equation 94
    ours = plugins.create("defense", "score_noise", {"scheme": 2, "budget": 1.0}).reveal(z, context)

    def tied(scores):
        return (scores == scores.max(axis=1, keepdims=True)).sum(axis=1) > 1

    assert 0.1 < tied(softmax(printed)).mean() < 0.9
    assert (softmax(printed).argmax(axis=1) != z.argmax(axis=1)).any()
    assert not tied(ours).any()
    np.testing.assert_array_equal(ours.argmax(axis=1), z.argmax(axis=1))
    np.testing.assert_allclose(ours, softmax(printed), atol=1e-6)
