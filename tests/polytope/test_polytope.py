"""Points of S_F = {A x = b, 0 <= x <= 1}: each agrees with its definition, whatever A and b look like."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutlayer import polytope
from cutlayer.core.errors import InputError
from cutlayer.polytope import with_cvxpy
from cutlayer.polytope.distance import least_distance
from cutlayer.polytope.exact import MOST_CANDIDATES
from cutlayer.polytope.inputs import orthonormal

PROJECT, RELAXED = 1e-7, 1e-6
SHAPES = [(1, 1), (2, 1), (3, 2), (6, 1), (6, 5), (8, 3), (12, 2), (12, 5), (20, 3), (36, 5)]
NAMES = ["least_squares", "half_star", "project", "relaxed_center", "chebyshev_center"]
KINDS = ["inner", "clipped", "binary"]
DEGENERATE = [
    "duplicate rows",
    "zero row",
    "zero column",
    "more rows",
    "parallel",
    "scaled",
    "binary",
    "zeros",
    "sparse",
]


def problem(m: int, d: int, seed: int = 0, count: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng([m, d, seed])
    A = rng.standard_normal((m, d))
    x = rng.random((count, d))
    return A, x @ A.T, x


def degenerate(kind: str, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([DEGENERATE.index(kind), d])
    A, x = rng.standard_normal((3, d)), rng.random((5, d))
    if kind == "duplicate rows":
        A[2] = -3.0 * A[0]
    elif kind == "zero row":
        A[1] = 0.0
    elif kind == "zero column":
        A[:, [1, 4]] = 0.0
    elif kind == "more rows":
        A = rng.standard_normal((d + 2, d))
    elif kind == "parallel":
        A[1:] = A[0] + 1e-3 * A[1:]
    elif kind == "scaled":
        A *= [[1e-3], [1.0], [1e3]]
    elif kind == "binary":
        x = np.round(x)
    elif kind == "zeros":
        A = np.zeros_like(A)
    else:
        A[rng.random(A.shape) < 0.5], x = 0.0, np.round(3 * x) / 3
    return A, x @ A.T


def residual(A: np.ndarray, x: np.ndarray, b: np.ndarray) -> float:
    size = np.abs(A).sum(axis=1)
    return float((np.abs(x @ A.T - b) / np.where(size > 0, size, 1.0)).max())


def assert_inside(A: np.ndarray, x: np.ndarray, b: np.ndarray, slack: float = 1e-9) -> None:
    assert residual(A, x, b) < slack
    assert x.min() > -slack
    assert x.max() < 1.0 + slack


@pytest.mark.parametrize(("d", "m"), SHAPES)
def test_least_squares_solves_with_the_least_norm(d: int, m: int) -> None:
    A, b, x = problem(m, d)
    found = polytope.least_squares(A, b)
    assert np.abs(found - np.linalg.lstsq(A, b.T, rcond=None)[0].T).max() < 1e-9
    assert (np.linalg.norm(found, axis=1) <= np.linalg.norm(x, axis=1) + 1e-12).all()


@pytest.mark.parametrize(("d", "m"), SHAPES)
def test_half_star_is_the_solution_closest_to_half(d: int, m: int) -> None:
    A, b, _ = problem(m, d)
    found = polytope.half_star(A, b)
    assert residual(A, found, b) < 1e-10
    along = np.eye(d) - np.linalg.pinv(A) @ A
    assert np.abs((found - 0.5) @ along).max() < 1e-9


@pytest.mark.parametrize(("d", "m"), SHAPES)
@pytest.mark.parametrize("target", [0.0, 0.5])
def test_project_agrees_with_cvxpy(d: int, m: int, target: float) -> None:
    A, b, _ = problem(m, d)
    gap = polytope.project(A, b, target) - polytope.project(A, b, target, solver="cvxpy")
    assert np.abs(gap).max() < PROJECT


@pytest.mark.parametrize("kind", DEGENERATE)
def test_project_agrees_with_cvxpy_on_degenerate_equations(kind: str) -> None:
    A, b = degenerate(kind)
    gap = polytope.project(A, b, 0.4) - polytope.project(A, b, 0.4, solver="cvxpy")
    assert np.abs(gap).max() < PROJECT


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 36), st.integers(1, 10), st.integers(0, 10**6), st.sampled_from(KINDS))
def test_project_meets_the_variational_inequality(d: int, m: int, seed: int, kind: str) -> None:
    A, _, x = problem(m, d, seed, count=6)
    x = {"inner": x, "clipped": np.clip(2 * x - 0.5, 0, 1), "binary": np.round(x)}[kind]
    target = np.random.default_rng(seed).normal(0.5, 1.0, d)
    b = np.repeat(x[:1] @ A.T, 6, axis=0)
    others = polytope.project(A, b, np.random.default_rng(seed + 1).normal(0.5, 1.0, (6, d)))
    found = polytope.project(A, b[:1], target)
    assert_inside(A, others, b, 1e-10)
    # <t - z, y - z> <= 0 for every y of S_F says that z is the nearest point to t.
    assert ((others - found) @ (target - found[0])).max() < 1e-9
    assert (x[0] - found[0]) @ (target - found[0]) < 1e-9


@settings(deadline=None, max_examples=30)
@given(st.integers(2, 20), st.integers(1, 5), st.integers(0, 10**6))
def test_project_is_idempotent_and_nonexpansive(d: int, m: int, seed: int) -> None:
    A, b, _ = problem(m, d, seed)
    first, second = np.random.default_rng(seed).normal(0.5, 1.0, (2, len(b), d))
    one, two = polytope.project(A, b, first), polytope.project(A, b, second)
    assert np.abs(polytope.project(A, b, one) - one).max() < 1e-9
    assert (np.linalg.norm(one - two, axis=1) <= np.linalg.norm(first - second, axis=1) + 1e-9).all()


@pytest.mark.parametrize(("d", "m"), [(2, 1), (6, 3), (12, 4)])
def test_the_slow_way_to_project_agrees_with_the_fast_one(d: int, m: int) -> None:
    A, b, _ = problem(m, d)
    equations, target = orthonormal(A, b), np.linspace(-0.5, 1.5, d)
    slow = [least_distance(equations.rows, c, target) for c in equations.values]
    assert np.abs(polytope.project(A, b, target) - slow).max() < PROJECT


def test_project_survives_nearly_parallel_rows_near_a_corner() -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        A = rng.standard_normal(6) + 1e-4 * rng.standard_normal((4, 6))
        x = np.clip(np.round(rng.random((6, 6))) + 1e-5 * rng.standard_normal((6, 6)), 0, 1)
        assert residual(A, polytope.project(A, x @ A.T, 0.5), x @ A.T) < 1e-11


def test_project_takes_a_number_a_vector_and_a_matrix() -> None:
    A, b, _ = problem(2, 6)
    number = polytope.project(A, b, 0.25)
    assert np.array_equal(number, polytope.project(A, b, np.full(6, 0.25)))
    assert np.array_equal(number, polytope.project(A, b, np.full((len(b), 6), 0.25)))


@pytest.mark.parametrize(("d", "m"), [shape for shape in SHAPES if shape[0] <= 20])
def test_relaxed_center_agrees_with_cvxpy(d: int, m: int) -> None:
    A, b, _ = problem(m, d)
    gap = polytope.relaxed_center(A, b) - polytope.relaxed_center(A, b, solver="cvxpy")
    assert np.abs(gap).max() < RELAXED


@pytest.mark.parametrize("kind", DEGENERATE)
def test_relaxed_center_agrees_with_cvxpy_on_degenerate_equations(kind: str) -> None:
    A, b = degenerate(kind)
    gap = polytope.relaxed_center(A, b) - polytope.relaxed_center(A, b, solver="cvxpy")
    assert np.abs(gap).max() < RELAXED


def test_relaxed_center_agrees_with_cvxpy_where_features_are_binary() -> None:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((2, 7)) * (rng.random((2, 7)) < 0.7)
    b = np.round(rng.random((6, 7))) @ A.T
    gap = polytope.relaxed_center(A, b) - polytope.relaxed_center(A, b, solver="cvxpy")
    assert np.abs(gap).max() < RELAXED


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 20), st.integers(1, 6), st.integers(0, 10**6))
def test_relaxed_center_is_inside(d: int, m: int, seed: int) -> None:
    A, b, _ = problem(m, d, seed)
    assert_inside(A, polytope.relaxed_center(A, b), b)


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_relaxed_center_does_not_depend_on_how_the_rows_are_written(d: int, m: int, seed: int) -> None:
    A, b, _ = problem(m, d, seed)
    R = np.random.default_rng(seed).standard_normal((m, m)) + 3.0 * np.eye(m)
    if np.linalg.cond(R) < 1e3:
        assert np.abs(polytope.relaxed_center(A, b) - polytope.relaxed_center(R @ A, b @ R.T)).max() < RELAXED


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_relaxed_center_follows_the_symmetries_of_the_cube(d: int, m: int, seed: int) -> None:
    A, b, _ = problem(m, d, seed)
    rng = np.random.default_rng(seed)
    order, flip = rng.permutation(d), rng.random(d) < 0.5
    moved, values = np.where(flip, -A[:, order], A[:, order]), b - (A[:, order] * flip).sum(axis=1)
    center = polytope.relaxed_center(A, b)[:, order]
    found = polytope.relaxed_center(moved, values)
    assert np.abs(np.where(flip, 1.0 - center, center) - found).max() < RELAXED


@pytest.mark.parametrize(("d", "m"), [(2, 1), (5, 2), (9, 3)])
def test_relaxed_and_exact_center_are_half_where_half_solves(d: int, m: int) -> None:
    A, _, _ = problem(m, d)
    b = np.full((1, d), 0.5) @ A.T
    assert np.abs(polytope.relaxed_center(A, b) - 0.5).max() < RELAXED
    assert np.abs(polytope.chebyshev_center(A, b)[0] - 0.5).max() < 1e-8


def test_relaxed_center_has_its_closed_form_where_one_coordinate_dominates() -> None:
    # The dominating coordinate never meets its bounds: S_F is a graph over the cube of the others.
    A, others = np.array([[10.0, 1.0, -2.0]]), np.array([[0.3, 0.1], [0.9, 0.4]])
    x = np.column_stack([[0.5, 0.4], others])
    half = np.full((2, 2), 0.5)
    expected = np.column_stack([(x @ A[0] - half @ A[0, 1:]) / 10.0, half])
    assert np.abs(polytope.relaxed_center(A, x @ A.T) - expected).max() < RELAXED
    assert np.abs(polytope.chebyshev_center(A, x @ A.T)[0] - expected).max() < 1e-8


def test_relaxed_center_is_not_the_midpoint_of_a_segment() -> None:
    # x2 = x1 / 2 - ¼, x1 in [½, 1]: the least of x1 (1 - x1) and 4 x2 (1 - x2) is greatest at x1 = ⅝.
    A, b = np.array([[0.5, -1.0]]), np.array([[0.25]])
    assert np.abs(polytope.relaxed_center(A, b) - [[5 / 8, 1 / 16]]).max() < RELAXED
    assert np.abs(polytope.chebyshev_center(A, b)[0] - [[6 / 8, 1 / 8]]).max() < 1e-9


@pytest.mark.parametrize(("d", "m"), [(3, 1), (4, 2), (6, 2), (8, 3)])
def test_relaxed_radius_bounds_the_exact_radius(d: int, m: int) -> None:
    A, b, _ = problem(m, d)
    center, radius = polytope.chebyshev_center(A, b)
    relaxed = polytope.relaxed_center(A, b)
    # max over Π of tr Π is at most Σ x (1 - x) and is the square of the relaxed radius at the relaxed center.
    assert (radius**2 <= (relaxed * (1.0 - relaxed)).sum(axis=1) + 1e-9).all()
    for row in range(len(b)):
        far = 1e3 * np.random.default_rng(row).standard_normal((50, d))
        corners = polytope.project(A, np.repeat(b[[row]], 50, axis=0), far)
        assert np.linalg.norm(corners - center[row], axis=1).max() <= radius[row] + 1e-9
    assert_inside(A, center, b)


@pytest.mark.parametrize(("d", "m"), [(1, 1), (2, 1), (3, 1), (4, 2), (6, 2), (6, 4)])
def test_exact_center_encloses_and_cannot_be_moved(d: int, m: int) -> None:
    A, b, _ = problem(m, d)
    center, radius = polytope.chebyshev_center(A, b)
    rng = np.random.default_rng(0)
    for row in range(len(b)):
        far = np.repeat(b[row : row + 1], 400, axis=0)
        corners = polytope.project(A, far, 0.5 + 1e3 * rng.standard_normal((400, d)))
        reach = np.linalg.norm(corners - center[row], axis=1)
        assert reach.max() <= radius[row] + 1e-9
        touching = corners[reach > radius[row] - 1e-6] - center[row]
        # The center lies in the hull of its farthest points: no direction leads away from all.
        directions = rng.standard_normal((200, d)) @ (np.eye(d) - np.linalg.pinv(A) @ A)
        assert radius[row] < 1e-9 or (directions @ touching.T).max(axis=1).min() > -1e-6


def test_exact_center_says_when_d_is_too_large() -> None:
    A, b, _ = problem(2, 36)
    with pytest.raises(InputError, match=re.escape(f"the limit is {MOST_CANDIDATES:,}")):
        polytope.chebyshev_center(A, b)


@pytest.mark.parametrize("name", ["project", "relaxed_center", "chebyshev_center"])
def test_a_single_point_is_found(name: str) -> None:
    rng = np.random.default_rng(1)
    x = np.round(rng.random((5, 6)))
    A = np.where(rng.random((2, 6)) < 0.5, 1.0, 2.0)
    assert np.abs(call(name, A, np.zeros((2, 2)))).max() < 1e-9
    square = rng.standard_normal((6, 6))
    assert np.abs(call(name, square, x @ square.T) - x).max() < 1e-9


@pytest.mark.parametrize("name", ["project", "relaxed_center", "chebyshev_center"])
@pytest.mark.parametrize("solver", ["exact", "cvxpy"])
def test_infeasible_rows_are_named_with_their_distance(name: str, solver: str) -> None:
    A, b, _ = problem(2, 5)
    limits = np.clip(A, 0, None).sum(axis=1)
    b[2] = [limits[0] + 3.2, b[2, 1]]
    if name == "chebyshev_center" and solver == "cvxpy":
        return
    said = rf"polytope\.{name}: row 2 of b is infeasible; its distance to A \[0,1\]\^d is"
    with pytest.raises(InputError, match=said) as error:
        call(name, A, b) if solver == "exact" else call(name, A, b, solver=solver)
    told = float(str(error.value).split()[-1])
    assert told == pytest.approx(np.linalg.norm(polytope.nearest_feasible(A, b)[2] - b[2]), rel=0.06)


@pytest.mark.parametrize("name", ["project", "relaxed_center"])
def test_values_that_contradict_each_other_are_infeasible(name: str) -> None:
    A, b, _ = problem(2, 5)
    A, b = np.vstack([A, A[:1]]), np.hstack([b, b[:, :1] + [[0.0], [0.0], [0.0], [0.1]]])
    with pytest.raises(InputError, match="row 3 of b is infeasible"):
        call(name, A, b)


@pytest.mark.parametrize("name", ["project", "relaxed_center"])
@pytest.mark.parametrize("noise", [1e-16, 1e-12, 1e-9])
def test_rounding_does_not_make_b_infeasible(name: str, noise: float) -> None:
    rng = np.random.default_rng(2)
    x = np.round(rng.random((20, 6)))
    for m in (1, 3, 5):
        A = 10.0 * rng.standard_normal((m, 6))
        b = x @ A.T * (1.0 + noise * rng.standard_normal((20, m)))
        assert residual(A, call(name, A, b), b) < 1e-7


def test_scores_give_back_their_features() -> None:
    rng = np.random.default_rng(4)
    weights, x = 5.0 * rng.standard_normal((4, 3)), np.round(rng.random((30, 3)))
    scores = np.exp(x @ weights.T)
    scores /= scores.sum(axis=1, keepdims=True)
    found = polytope.relaxed_center(np.diff(weights, axis=0), np.diff(np.log(scores), axis=1))
    assert np.abs(found - x).max() < 1e-9


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_nearest_feasible_is_nearest_and_keeps_what_is_feasible(d: int, m: int, seed: int) -> None:
    A, b, x = problem(m, d, seed)
    assert np.array_equal(polytope.nearest_feasible(A, b), b)
    far = b + np.random.default_rng(seed).normal(0, 2, b.shape)
    near = polytope.nearest_feasible(A, far)
    polytope.project(A, near, 0.5)
    # No corner's image lies beyond the tangent plane at the nearest point.
    push = (far - near) @ A
    best = np.clip(push, 0, None).sum(axis=1)
    assert np.abs(best - ((far - near) * near).sum(axis=1)).max() < 1e-6 * (1.0 + np.abs(best).max())
    assert (np.linalg.norm(far - near, axis=1) <= np.linalg.norm(far - x @ A.T, axis=1) + 1e-9).all()


@pytest.mark.parametrize("name", NAMES)
def test_wrong_input_is_refused(name: str) -> None:
    A, b, _ = problem(2, 5)
    for matrix, values, said in [
        (A, b[0], "b has shape"),
        (A[0], b, "A has shape"),
        (A, b[:, :1], "one equation a column"),
        (A, np.where(b == b[0, 0], np.nan, b), "b is not finite"),
        (A * np.inf, b, "A is not finite"),
    ]:
        with pytest.raises(InputError, match=said):
            call(name, matrix, values)


def test_wrong_targets_and_solvers_are_refused() -> None:
    A, b, _ = problem(2, 5)
    with pytest.raises(InputError, match=r"allowed: a number, \(5,\) or \(4, 5\)"):
        polytope.project(A, b, np.zeros(4))
    with pytest.raises(InputError, match="known: exact, cvxpy"):
        polytope.relaxed_center(A, b, solver="exakt")


def test_no_predictions_give_no_points() -> None:
    A = np.ones((2, 3))
    for name in NAMES:
        assert call(name, A, np.empty((0, 2))).shape == (0, 3)


def test_reference_tolerance_is_the_reason_to_be_tight() -> None:
    A, b, _ = problem(3, 8)
    loose = with_cvxpy.relaxed_center(A, b, tolerance=1e-4)
    assert np.abs(loose - polytope.relaxed_center(A, b)).max() > RELAXED


def call(name: str, A: np.ndarray, b: np.ndarray, **options: str) -> np.ndarray:
    if name == "project":
        return polytope.project(A, b, 0.5, **options)
    found = getattr(polytope, name)(A, b, **options)
    return found[0] if name == "chebyshev_center" else found
