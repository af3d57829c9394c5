"""Constrained least squares as a solver returns it: cvxpy's own answer, to the last bit."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from cutlayer import polytope
from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.vertical.equations import linear_system, softmax
from cutlayer.plan import plugins
from cutlayer.polytope import solvers

WITH = {"CLARABEL": solvers.with_clarabel, "OSQP": solvers.with_osqp}


def instance(m, d, feasible=True):
    rng = generator("solvers", m, d)
    A = 3 * rng.normal(size=(m, d))
    return A, rng.random((6, d)) @ A.T + (0 if feasible else 9 * rng.normal(size=(6, m)))


def as_the_paper_writes_it(A, b, solver):
    x = cp.Variable(A.shape[1])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), [x >= 0, x <= 1])
    problem.solve(solver=solver, max_iter=100_000)
    return x.value, problem.solver_stats.solver_name


@pytest.mark.parametrize("solver", WITH)
@pytest.mark.parametrize(("m", "d", "feasible"), [(1, 19, True), (3, 12, True), (3, 12, False), (9, 4, True)])
def test_a_solvers_point_is_what_cvxpy_returns(solver, m, d, feasible):
    A, b = instance(m, d, feasible)
    meant = [as_the_paper_writes_it(A, one, solver)[0] for one in b]
    np.testing.assert_array_equal(WITH[solver](A, b), meant)


def test_cvxpy_takes_osqp_of_itself():
    A, b = instance(3, 12)
    assert as_the_paper_writes_it(A, b[0], None)[1] == "OSQP"


@pytest.mark.parametrize("solver", WITH)
def test_a_point_does_not_depend_on_other_predictions(solver):
    A, b = instance(3, 12)
    together = WITH[solver](A, b)
    np.testing.assert_array_equal(together[::-1], WITH[solver](A, b[::-1]))
    np.testing.assert_array_equal(together[2:3], WITH[solver](A, b[2:3]))


@pytest.mark.parametrize("solver", WITH)
def test_it_is_one_of_many_solutions_and_not_that_of_least_norm(solver):
    A, b = instance(3, 12)
    found, least = WITH[solver](A, b), polytope.project(A, b, 0.0)
    np.testing.assert_allclose(found @ A.T, b, atol=1e-6)
    assert found.min() > -1e-6
    assert found.max() < 1 + 1e-6
    assert (np.linalg.norm(found, axis=1) > np.linalg.norm(least, axis=1) + 0.01).all()


@pytest.mark.parametrize("solver", WITH)
def test_the_attack_takes_the_solver_that_it_is_told(solver):
    rng, known = generator("attack", solver), np.zeros((4, 1))
    weights, x = 3 * rng.normal(size=(3, 7)), rng.random((4, 7))
    seen = {"scores": softmax(x @ weights.T), "active_features": known, "active_weights": np.zeros((3, 1))}
    method = plugins.create("attack", "constrained_least_squares", {"point": solver.lower()})
    view = View("test", method.sees, seen | {"passive_weights": weights, "bias": np.zeros(3)}, rng)
    np.testing.assert_array_equal(method.infer(view), WITH[solver](*linear_system(view)))
