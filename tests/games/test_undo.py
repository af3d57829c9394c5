"""undo: what it can take back leaves the undefended error, and what it cannot leaves one half's."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

from cutlayer import polytope
from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.base.defense import described, description
from cutlayer.games.vertical.attacks import undo
from cutlayer.games.vertical.attacks._inequalities import nearest_within
from cutlayer.games.vertical.defense import Context
from cutlayer.games.vertical.equations import difference_matrix
from cutlayer.plan import plugins
from cutlayer.theory.chebyshev import row_space, theorem3

ATTACK = plugins.create("attack", "undo")
every_k = pytest.mark.parametrize("k", [2, 3, 6])


def defense(name, **parameters):
    return plugins.create("defense", name, parameters, "vertical")


class Game:
    """A random linear model on random features, and what the adversary sees of it under a defense."""

    def __init__(self, k, d=7, active=4, rows=60, seed=0):
        draw = generator("test_undo", k, d, active, seed)
        self.X, self.Y = (draw.random((rows, columns)) * draw.random(columns) for columns in (d, active))
        self.W, self.V, self.bias = (draw.standard_normal(shape) for shape in ((k, d), (k, active), k))
        self.context = Context(self.W, self.X, draw)
        self.A = difference_matrix(k) @ self.W

    def view(self, own):
        """Under `rescaling` the model is the one that has the same logits on what the passive party trains on."""
        factor, offset = own.rescaling
        W, bias = self.W / factor, self.bias - self.W.sum(axis=1) * offset / factor
        logits = (factor * self.X + offset) @ W.T + self.Y @ self.V.T + bias
        np.testing.assert_allclose(logits, self.X @ self.W.T + self.Y @ self.V.T + self.bias, atol=1e-10)
        context = Context(W, factor * self.X + offset, self.context.rng)
        weights, shown = own.publish(W, bias, context)
        seen = {
            "scores": own.reveal(logits, context), "active_features": self.Y, "active_weights": self.V,
            "passive_weights": weights, "bias": shown, "defense": described(own),
        }  # fmt: skip
        return View("undo", ATTACK.sees, seen, generator("undo"))

    def guess(self, own):
        return ATTACK.infer(self.view(own))

    def solution(self):
        """The nearest points to 1/2 under the true equations."""
        return polytope.project(self.A, self.X @ self.A.T, 0.5)


EXACT = [
    ("none", {}),
    ("pps", {"transform": "minus_identity"}),
    ("pps", {"transform": "minus_identity", "retrain": True}),
    *(("score_noise", {"scheme": 1, "budget": budget}) for budget in (0.03, 1.0, 30.0)),
    *(("score_noise", {"scheme": 3, "budget": budget}) for budget in (0.1, 0.5, 0.99)),
]


@every_k
@pytest.mark.parametrize(("name", "parameters"), EXACT, ids=[f"{n}-{list(p.values())}" for n, p in EXACT])
def test_what_depends_on_nothing_secret_is_undone_to_the_last_digits(name, parameters, k):
    game = Game(k)
    np.testing.assert_allclose(game.guess(defense(name, **parameters)), game.solution(), atol=1e-6)


@every_k
@pytest.mark.parametrize("budget", [0.03, 1.0, 30.0])
def test_scheme_2_is_undone_where_the_top_class_was_not_lifted_and_bounded_where_it_was(budget, k):
    game, own = Game(k, rows=300), defense("score_noise", scheme=2, budget=budget)
    view, guess = game.view(own), game.guess(own)
    ordered = np.sort(np.log(view.scores), axis=1)
    kept = ordered[:, -1] - ordered[:, -2] > 2 * own.margin
    np.testing.assert_allclose(guess[kept], game.solution()[kept], atol=1e-6)
    lifted = ~kept
    assert lifted.any() or budget < 1 or k == 2  # of two classes it may be one that v_1 lifts by itself
    logits = guess @ game.W.T + game.Y @ game.V.T + game.bias
    true = game.X @ game.W.T + game.Y @ game.V.T + game.bias
    top = true.argmax(axis=1)
    assert (logits.max(axis=1) - logits[np.arange(300), top])[lifted].max(initial=0) < 1e-6  # still at the top
    rest = np.arange(k) != top[:, None]
    for row in np.flatnonzero(lifted):  # the others' equations hold
        np.testing.assert_allclose(np.diff(logits[row, rest[row]]), np.diff(true[row, rest[row]]), atol=1e-6)


def test_the_inequalities_of_scheme_2_tell_more_than_the_equations_alone():
    game, own = Game(4, rows=300), defense("score_noise", scheme=2, budget=30.0)
    view = game.view(own)
    ordered = np.sort(np.log(view.scores), axis=1)
    rows = np.flatnonzero(ordered[:, -1] - ordered[:, -2] < 2 * own.margin)
    alone = []
    for row in rows:
        rest = np.delete(np.arange(4), view.scores[row].argmax())
        A = difference_matrix(3) @ game.W[rest]
        alone.append(polytope.project(A, (A @ game.X[row])[None], 0.5)[0] - game.X[row])
    assert np.square(game.guess(own)[rows] - game.X[rows]).mean() < np.square(alone).mean()


def test_the_negated_transform_is_the_rotation_that_brings_least_squares_closest():
    game = Game(4)
    seen, K0 = row_space(game.A), game.X.T @ game.X
    best = -theorem3(game.A, K0)["transform"]
    error = np.square(game.X @ seen @ best.T - game.X).sum()
    np.testing.assert_allclose(best @ best.T, np.eye(7), atol=1e-10)
    draw = generator("rotations")
    for _ in range(200):
        other = np.linalg.qr(draw.standard_normal((7, 7)))[0]
        assert np.square(game.X @ seen @ other.T - game.X).sum() >= error
    assert np.square(game.X @ seen - game.X).sum() >= error  # nor is leaving it as it is any better


@every_k
def test_the_optimal_transform_hides_no_more_than_one_half_does_from_features_of_the_same_kind(k):
    errors, halves = [], []
    for seed in range(10):
        game = Game(k, seed=seed)
        errors.append(np.square(game.guess(defense("pps", transform="optimal")) - game.X).mean())
        halves.append(np.square(0.5 - game.X).mean())
    assert np.mean(errors) < np.mean(halves)


def test_without_features_of_its_own_the_adversary_scales_to_one_half():
    game = Game(3, active=0)
    guess = game.guess(defense("pps", transform="optimal"))
    assert np.isfinite(guess).all()
    assert guess.min() >= 0
    assert guess.max() <= 1


@every_k
@pytest.mark.parametrize("rest", [0.1, 1e-6])
def test_a_class_label_is_used_to_the_full_and_no_further(rest, k):
    """The guess has that class, and is the nearest one that has."""
    game, own = Game(k, rows=100), defense("class_label", rest=rest)
    guess = game.guess(own)
    known = game.Y @ game.V.T + game.bias
    top = (game.X @ game.W.T + known).argmax(axis=1)
    logits = guess @ game.W.T + known
    assert (logits.max(axis=1) - logits[np.arange(100), top]).max() < 1e-6
    for row in range(20):
        x = cp.Variable(7)
        others = np.delete(np.arange(k), top[row])
        above = (game.W[top[row]] - game.W[others]) @ x + known[row, top[row]] - known[row, others]
        cp.Problem(cp.Minimize(cp.sum_squares(x - 0.5)), [above >= 0, x >= 0, x <= 1]).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(guess[row], x.value, atol=1e-4)


@every_k
def test_a_class_label_never_makes_a_guess_worse_than_one_half_and_some_better(k):
    """A projection on a convex set that has the truth in it comes nearer to the truth, or stays where it is."""
    better = 0
    for seed in range(5):
        game = Game(k, seed=seed)
        errors = [np.square(some - game.X).sum(axis=1) for some in (game.guess(defense("class_label")), 0.5)]
        assert (errors[0] <= errors[1] + 1e-7).all()
        better += np.count_nonzero(errors[0] < errors[1] - 1e-3)
    assert better


def test_a_class_that_one_half_has_tells_nothing_and_one_that_no_features_have_is_refused():
    np.testing.assert_array_equal(nearest_within(np.ones((2, 3)), np.array([1.5, 0.0])), np.full(3, 0.5))
    with pytest.raises(InputError, match=r"attack\.undo: no features give what was revealed"):
        nearest_within(np.ones((1, 3)), np.array([3.1]))


def test_what_cannot_be_undone_is_said():
    own = defense("none")
    view = View("undo", ATTACK.sees, {"defense": described(plugins.create("defense", "iso", {"ratio": 1.0}))}, None)
    assert "here the defense is iso" in ATTACK.skip(view)
    assert not ATTACK.skip(Game(3).view(own))


def test_a_defense_s_description_says_its_name_and_parameters():
    own = defense("score_noise", scheme=2, budget=3.0)
    assert description(described(own)) == ("score_noise", {"scheme": 2, "budget": 3.0, "margin": 1e-6})


def test_undo_is_for_the_methods_of_this_tree():
    assert set(undo.UNDONE) <= set(plugins.names("defense", "vertical"))
