"""Lemma 1 and theorems 2 to 4 of the chebyshev paper: closed forms against brute force, and bounds that hold.

They hold of any matrix or features, so that they are tests here and no claims of paper.yaml.

`A` is drawn with independent rows, with dependent ones, with fewer columns than rows, and with one column.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutlayer import polytope
from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.vertical.equations import difference_matrix, linear_system
from cutlayer.plan import plugins
from cutlayer.stages.measures.chebyshev import measure
from cutlayer.stages.theory import Case
from cutlayer.theory.chebyshev import row_space, theorem2, theorem3, theorem4


@st.composite
def instances(draw):
    """A (m x d) of any rank from 1, and features X (N x d) in the unit cube, some of them constant or binary."""
    m, d = draw(st.integers(1, 4)), draw(st.integers(1, 7))
    rank, n = draw(st.integers(1, min(m, d))), draw(st.sampled_from([1, 3, 40]))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    A = np.round(rng.normal(size=(m, rank)), 2) @ np.round(rng.normal(size=(rank, d)), 2)
    X = rng.random((n, d)) ** draw(st.sampled_from([0.2, 1.0, 5.0]))
    X[:, 0] = draw(st.sampled_from([X[:, 0], np.round(X[:, 0]), np.ones(n)]))
    return A, X


def solved(A, b):
    """The solution of least norm of A x = b for each row of b."""
    return np.linalg.lstsq(A, b.T, rcond=1e-10)[0].T


def mse(guess, X):
    """Equation 7: per feature."""
    return np.mean(np.square(guess - X))


def plain_minus_half(A, b):
    """The solution of A x = b closest to 1/2."""
    return 0.5 + solved(A, b - 0.5 * A.sum(axis=1))


@given(instances(), st.floats(0.01, 2), st.floats(0, 1))
def test_lemma1_a_random_guess_errs_more_than_its_mean_by_its_variance(instance, spread, middle):
    """Of any features."""
    _, X = instance
    draws = middle + spread * np.linspace(-0.5, 0.5, 101)
    gap = np.mean([mse(one, X) for one in draws]) - mse(middle, X)
    assert gap == pytest.approx(draws.var())


def test_lemma1_uniform_guesses_lose_a_twelfth_to_one_half():
    """To five standard errors of the mean over 20,000 draws."""
    X, attack = generator("lemma1").random((5000, 4)) ** 2, plugins.create("attack", "random_guess", game="vertical")
    view = View("random_guess", attack.sees, {"scores": X, "passive": np.arange(4)}, generator("lemma1 guesses"))
    gap = np.square(attack.infer(view) - X) - np.square(0.5 - X)
    assert abs(gap.mean() - 1 / 12) < 5 * gap.std() / np.sqrt(gap.size)


@given(instances())
def test_row_space_is_the_projection_on_the_rows(instance):
    A, _ = instance
    P = row_space(A)
    np.testing.assert_allclose(P @ A.T, A.T, atol=1e-9)
    np.testing.assert_allclose(P @ P, P, atol=1e-9)
    np.testing.assert_allclose(P, P.T, atol=1e-12)
    assert np.trace(P) == pytest.approx(np.linalg.matrix_rank(A, tol=1e-10), abs=1e-9)


@given(instances())
def test_theorem2_closed_forms_are_the_errors_of_the_attacks(instance):
    A, X = instance
    found, b = theorem2(A, X), X @ A.T
    for guess in (solved(A, b), polytope.least_squares(A, b)):
        assert found["ls_mse"] == pytest.approx(mse(guess, X), abs=1e-10)
    for guess in (plain_minus_half(A, b), polytope.half_star(A, b)):
        assert found["half_star_mse"] == pytest.approx(mse(guess, X), abs=1e-10)


@given(instances())
def test_theorem2_bounds_are_sums_of_eigenvalues_and_hold(instance):
    A, X = instance
    found, d = theorem2(A, X), A.shape[1]
    nullity = d - np.linalg.matrix_rank(A, tol=1e-10)
    for name, center in (("ls", 0.0), ("half_star", 0.5)):
        spectrum = np.zeros(d)
        singular = np.linalg.svd((X - center) / np.sqrt(len(X)), compute_uv=False)
        spectrum[: len(singular)] = singular**2
        assert found[f"{name}_lower"] == pytest.approx(np.sort(spectrum)[:nullity].sum() / d, abs=1e-10)
        assert found[f"{name}_upper"] == pytest.approx(np.sort(spectrum)[::-1][:nullity].sum() / d, abs=1e-10)
        assert found[f"{name}_lower"] <= found[f"{name}_mse"] + 1e-10
        assert found[f"{name}_mse"] <= found[f"{name}_upper"] + 1e-10
        assert found["covariance_lower"] <= found[f"{name}_mse"] + 1e-10


@given(instances())
def test_theorem2_covariance_bound_is_the_error_about_the_mean(instance):
    A, X = instance
    known_mean = X.mean(axis=0) + solved(A, (X - X.mean(axis=0)) @ A.T)
    assert theorem2(A, X)["covariance_lower"] == pytest.approx(mse(known_mean, X), abs=1e-10)


@pytest.mark.parametrize(("m", "d"), [(1, 1), (3, 1), (3, 3), (5, 2)])
def test_theorem2_has_no_error_where_the_features_are_not_more_than_the_equations(m, d):
    rng = generator("determined", m, d)
    found = theorem2(rng.normal(size=(m, d)), rng.random((30, d)))
    assert max(map(abs, found.values())) < 1e-12


def test_theorem2_without_equations_is_the_error_of_blind_guesses():
    X = generator("blind").random((30, 4))
    found = theorem2(np.zeros((2, 4)), X)
    assert found["ls_mse"] == pytest.approx(mse(0, X))
    assert found["half_star_mse"] == pytest.approx(mse(0.5, X))
    assert found["ls_lower"] == pytest.approx(found["ls_upper"])


def error_under(H, A, X):
    """What least squares leaves when A H^-1 is published; the adversary takes it for the coefficients of X."""
    return mse(solved(A @ H.T, X @ A.T), X)


@given(instances())
def test_theorem3_is_attained_by_its_orthonormal_transform(instance):
    A, X = instance
    best = theorem3(A, X.T @ X / len(X))
    H = best["transform"]
    np.testing.assert_allclose(H @ H.T, np.eye(len(H)), atol=1e-10)
    assert best["mse"] == pytest.approx(error_under(H, A, X), abs=1e-9)


@given(instances())
def test_theorem3_beats_random_orthonormal_transforms(instance):
    A, X = instance
    d = A.shape[1]
    best = theorem3(A, X.T @ X / len(X))["mse"]
    drawn = np.linalg.qr(generator("theorem3", d).normal(size=(200, d, d)))[0]
    assert max(error_under(H, A, X) for H in [*drawn, np.eye(d), -np.eye(d)]) <= best + 1e-10


def seen_of_half(A, X):
    """(4/d) tr(A^+ A K_1/2) of section VIII-D."""
    centered = X - 0.5
    return 4 * np.sum(row_space(A) * (centered.T @ centered)) / X.size


@given(instances())
def test_minus_identity_adds_four_times_what_the_equations_see(instance):
    A, X = instance
    before, after = X @ A.T, (1 - X) @ -A.T  # what the scores fix of x, and under the scheme of 1 - x
    for attack in (polytope.least_squares, polytope.half_star):
        added = mse(attack(-A, after), X) - mse(attack(A, before), X)
        assert added == pytest.approx(seen_of_half(A, X), abs=1e-9)


@given(instances(), st.integers(0, 2**31))
def test_noise_on_the_logits_adds_its_own_error_to_that_of_each_row(instance, seed):
    """The equation below 94: what both attacks miss is in the null space of A, what noise moves them by is not."""
    A, X = instance
    noise = np.random.default_rng(seed).normal(size=X.shape) @ A.T  # any, where A has no more rows than its rank
    for attack in (polytope.least_squares, polytope.half_star):
        before, after = (((attack(A, seen) - X) ** 2).sum(axis=1) for seen in (X @ A.T, X @ A.T + noise))
        expected = (solved(A, noise) ** 2).sum(axis=1)
        np.testing.assert_allclose(after - before, expected, rtol=1e-6, atol=1e-8)


ERRORS = {"least_squares": "ls_mse", "half_star": "half_star_mse"}


@pytest.mark.parametrize("setup", ["one_feature", "two_classes", "three_classes"])
@pytest.mark.parametrize("name", ERRORS)
def test_attacks_on_a_run_err_as_theorem2_says_and_by_as_much_more_as_section_viii_d_says(name, setup, run, cases):
    attack, truth = plugins.create("attack", name), run(setup).truth["features"]
    for (_, before, rows), (_, after, _) in zip(cases(run(setup)), cases(run(setup, "pps")), strict=True):
        X = truth[np.ix_(rows, before["passive"])]
        views = [View(name, attack.sees, seen, generator("no draw")) for seen in (before, after)]
        error, under_pps = (mse(attack.infer(view), X) for view in views)
        A, _ = linear_system(views[0])
        assert error == pytest.approx(theorem2(A, X)[ERRORS[name]], abs=1e-9)
        assert under_pps - error == pytest.approx(seen_of_half(A, X), abs=1e-9)


@pytest.mark.parametrize(("m", "d"), [(1, 1), (2, 2), (4, 3)])
def test_theorem3_is_minus_identity_below_the_number_of_classes(m, d):
    rng = generator("below", m, d)
    X = rng.random((30, d))
    found = theorem3(rng.normal(size=(m, d)), X.T @ X / len(X))
    np.testing.assert_allclose(found["transform"], -np.eye(d), atol=1e-8)


def test_theorem3_needs_the_one_over_d():
    """Erratum 1: equation 81 and 4 Tr(K_0) of equation 79, as printed, are d times the MSE of equation 7."""
    rng = generator("erratum1")
    for m, d in ((1, 4), (3, 6), (5, 3)):
        A, X = rng.normal(size=(m, d)), rng.random((50, d))
        K0, P = X.T @ X / len(X), row_space(A)
        printed = np.trace((np.eye(d) + P) @ K0) + 2 * np.linalg.norm(P @ K0, "nuc")
        best = theorem3(A, K0)
        actual = error_under(best["transform"], A, X)
        assert printed == pytest.approx(d * actual)
        assert best["mse"] == pytest.approx(actual)
        assert 4 * np.trace(K0) == pytest.approx(d * mse(-X, X))


@given(instances())
def test_theorem4_gain_is_the_largest_eigenvalue_and_its_direction_attains_it(instance):
    A, _ = instance
    J = difference_matrix(len(A) + 1)
    effect = np.linalg.pinv(A, rcond=1e-10) @ J
    found = theorem4(A, J)
    v = found["direction"]
    assert found["gain"] == pytest.approx(np.linalg.eigvalsh(effect.T @ effect)[-1], rel=1e-9)
    assert np.square(effect @ v).sum() == pytest.approx(found["gain"], rel=1e-9)
    assert np.linalg.norm(v) == pytest.approx(1)
    assert v.sum() == pytest.approx(0, abs=1e-7)  # a shift of all logits has no effect
    random = generator("theorem4", len(v)).normal(size=(200, len(v)))
    reached = np.square(random @ effect.T).sum(axis=1) / np.square(random).sum(axis=1)
    assert reached.max() <= found["gain"] * (1 + 1e-9)


@given(instances(), st.floats(0.01, 10))
def test_theorem4_noise_adds_its_gain_to_the_error_of_least_squares(instance, budget):
    """Equations 86 and 88: for every sample, since A^+ J n is orthogonal to what least squares misses."""
    A, X = instance
    J = difference_matrix(len(A) + 1)
    found = theorem4(A, J)
    noisy = solved(A, X @ A.T + np.sqrt(budget) * J @ found["direction"])
    added = mse(noisy, X) - mse(solved(A, X @ A.T), X)
    assert added == pytest.approx(budget * found["gain"] / A.shape[1], rel=1e-6)


@given(instances())
def test_theorem4_direction_has_its_last_largest_entry_positive(instance):
    A, _ = instance
    v = theorem4(A, difference_matrix(len(A) + 1))["direction"]
    size = np.abs(v)
    assert v[np.flatnonzero(size > size.max() * (1 - 1e-6))[-1]] > 0


@given(instances())
def test_theorem1_half_star_never_errs_more_than_half(instance):
    """Sample by sample, of any matrix: a projection on a plane that has the truth in it."""
    A, X = instance
    errors = [np.square(guess - X).mean(axis=1) for guess in (polytope.half_star(A, X @ A.T), np.full_like(X, 0.5))]
    assert (errors[0] - errors[1]).max() < 1e-9


@pytest.mark.parametrize("setup", ["one_feature", "two_classes", "three_classes"])
def test_theorem1_holds_on_a_run(setup, run):
    outcome = run(setup)
    case = Case("chebyshev", setup, "none", "", 0)
    rows = list(measure(outcome.transcripts[""] | outcome.shared, outcome.truth, case))
    violations = [row for row in rows if row["metric"].endswith("_excess")]
    assert len(violations) == 2 * len(outcome.shared["windows"])
    assert max(row["value"] for row in violations) < 1e-9


@given(instances(), st.floats(0.1, 10))
def test_clamping_to_the_cube_never_hurts_as_the_truth_is_in_it(instance, size):
    """Section VIII-A's third observation: a projection on a convex set that holds the truth."""
    _, X = instance
    guess = size * generator("clamping", len(X), size).normal(size=X.shape)
    assert (np.abs(np.clip(guess, 0, 1) - X) <= np.abs(guess - X)).all()
