"""The weights of the two gradients solve equation (12) of tcpo: held against cvxpy, and against what the lemmas say."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.pareto import anchor, direction

UTILITY = (1.0, 0.0)
CASES = range(60)


def drawn(case: int) -> tuple[np.ndarray, np.ndarray]:
    """Gradients (5, 2) whose sizes differ by up to a thousand times, every third pair nearly opposed; losses (2,)."""
    rng = generator("pareto", case)
    G = rng.normal(size=(5, 2)) * 10 ** rng.uniform(-2, 1, size=2)
    if case % 3 == 0:
        G[:, 1] = -rng.uniform(0.5, 2) * G[:, 0] + rng.normal(size=5) * 10 ** rng.uniform(-2, -1)
    return G, rng.exponential(size=2)


def solved(C: np.ndarray, aim: np.ndarray, guarded: bool) -> float:
    beta = cp.Variable(2)
    limits = [beta >= -1, beta <= 1] + ([C[1] @ beta >= 0] if guarded else [])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(C @ beta - aim)), limits)
    return float(problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10))


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_at_the_front_the_objective_is_the_solvers(case: int, guarded: bool) -> None:
    G, losses = drawn(case)
    C, aim = G.T @ G, np.array(anchor(tuple(losses), UTILITY))
    beta = direction(C, losses, UTILITY, True, guarded)
    step = C @ beta if beta is not None else np.zeros(2)
    assert np.sum((step - aim) ** 2) == pytest.approx(solved(C, aim, guarded), rel=1e-8, abs=1e-8)
    if beta is not None:
        assert np.abs(beta).max() <= 1
        assert not guarded or step[1] >= -1e-14 * np.abs(C).max()


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_away_from_the_front_both_losses_fall_in_proportion(case: int, over: bool) -> None:
    G, losses = drawn(case)
    beta = direction(G.T @ G, losses, UTILITY, False, over)
    assert beta is not None
    fall = G.T @ (G @ beta)
    k = fall @ losses / (losses @ losses)
    assert 0 < k <= 1 + 1e-9
    np.testing.assert_allclose(fall, k * losses, rtol=1e-6)
    # The step is as long as the box and the losses let it be.
    assert k == pytest.approx(1, abs=1e-9) or np.abs(beta).max() == pytest.approx(1, abs=1e-12)
    # Lemma 3: what the losses' imbalance does to first order.
    assert np.dot(anchor(tuple(losses), UTILITY), fall) == pytest.approx(0, abs=1e-7 * np.linalg.norm(fall))


@pytest.mark.parametrize("case", CASES)
def test_lemma_2_and_theorem_1(case: int) -> None:
    """A step at the front never adds to the imbalance, and is not zero while the threshold is far."""
    G, losses = drawn(case)
    beta = direction(G.T @ G, losses, UTILITY, True, False)
    assert beta is not None
    assert np.dot(anchor(tuple(losses), UTILITY), G.T @ (G @ beta)) >= 0


@pytest.mark.parametrize("preference", [(1, 0), (0, 1), (1, 1), (0.2, 3)])
def test_the_anchor_is_orthogonal_to_the_losses(preference: tuple[float, float]) -> None:
    losses = (0.7, 0.02)
    a = anchor(losses, preference)
    assert np.dot(a, losses) == pytest.approx(0, abs=1e-15)
    x, y = (1 / max(r, 1e-9) for r in preference)  # the limit of a vanishing preference, and else itself
    size, ray = np.hypot(*losses), np.hypot(x, y)
    expected = np.dot(losses, (x, y)) / (size * ray) * np.array(losses) - size / ray * np.array([x, y])
    np.testing.assert_allclose(a, expected, atol=1e-8)


def test_utility_first_trades_privacy_for_utility() -> None:
    """The anchor of r = (1, 0) is along (L_p, -L_u)."""
    a = anchor((0.5, 0.1), UTILITY)
    assert a[0] / a[1] == pytest.approx(0.1 / -0.5)
    assert a[0] > 0


@pytest.mark.parametrize(
    ("G", "losses", "expected"),
    [
        # Parallel and of the losses' proportion: along both, the shortest weights.
        ([[2.0, 1.0]], (2.0, 1.0), [0.4, 0.2]),
        # ... of another proportion: the shorter gradient, which both losses fall along.
        ([[2.0, 1.0]], (1.0, 1.0), [0.0, 1.0]),
        # Opposed: nothing helps both.
        ([[1.0, -1.0]], (1.0, 1.0), None),
        # One gradient is zero.
        ([[1.0, 0.0]], (1.0, 1.0), None),
        # ... which does no harm when its loss is zero too.
        ([[2.0, 0.0]], (1.0, 0.0), [0.25, 0.0]),
        ([[0.0, 0.0]], (1.0, 1.0), None),
        # Parallel, small: as far as the box goes.
        ([[0.1, 0.1]], (1.0, 1.0), [1.0, 1.0]),
    ],
)
def test_singular_away_from_the_front(G: list, losses: tuple, expected: list | None) -> None:
    beta = direction(np.array(G).T @ np.array(G), losses, UTILITY, False, True)
    if expected is None:
        assert beta is None
    else:
        np.testing.assert_allclose(beta, expected, atol=1e-12)


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_singular_at_the_front_is_the_limit_of_regular_ones(case: int, guarded: bool) -> None:
    """Opposed gradients of one line: nearest to the anchor, and the shortest weights that reach it."""
    rng = generator("pareto singular", case)
    row = rng.normal(size=2) * (1, -1 if case % 2 else 1)
    C, losses = np.outer(row, row), rng.exponential(size=2)
    aim = np.array(anchor(tuple(losses), UTILITY))
    beta = direction(C, losses, UTILITY, True, guarded)
    step = C @ beta if beta is not None else np.zeros(2)
    assert np.sum((step - aim) ** 2) == pytest.approx(solved(C, aim, guarded), rel=1e-8, abs=1e-8)
    if beta is not None:
        across = np.array([-row[1], row[0]]) / np.hypot(*row)
        shorter = [beta + t * across for t in (-1e-3, 1e-3)]
        assert all(np.linalg.norm(b) >= np.linalg.norm(beta) or np.abs(b).max() > 1 for b in shorter)


def test_opposed_gradients_over_the_threshold_stop() -> None:
    """The only way to better utility costs privacy: equation (12) has no direction left."""
    C = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert direction(C, (0.5, 0.1), UTILITY, True, True) is None
    assert direction(C, (0.5, 0.1), UTILITY, True, False) is not None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"C": [[1.0, 0.0]]}, "direction.C: is .*; expected a 2 x 2 matrix"),
        ({"C": [[1.0, 2.0], [2.0, 1.0]]}, "direction.C: is .*; dot products are symmetric and positive"),
        ({"C": [[1.0, 0.5], [0.2, 1.0]]}, "symmetric"),
        ({"losses": (-1.0, 0.0)}, "direction.losses"),
        ({"losses": (1.0, np.nan)}, "direction.losses"),
        ({"preference": (0, 0)}, "direction.preference: is .*; at least one loss must matter"),
    ],
)
def test_bad_input_is_named(changed: dict, message: str) -> None:
    given = {"C": np.eye(2), "losses": (1.0, 1.0), "preference": UTILITY, "at_front": True, "over_threshold": False}
    with pytest.raises(InputError, match=message):
        direction(**(given | changed))
