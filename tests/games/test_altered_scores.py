"""Defenses that reveal no probabilities, what undo recovers under them, and the attacks that need no exact scores."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from tests.games.test_undo import ATTACK, Game, defense, every_k

from cutlayer import polytope
from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.vertical.attacks import _scores, undo
from cutlayer.games.vertical.defenses._noise import UNIT, deviation
from cutlayer.games.vertical.defenses.privee import stretches
from cutlayer.games.vertical.equations import linear_system, softmax
from cutlayer.plan import plugins
from cutlayer.theory.accounting import gaussian_auc, gaussian_deviation

ALTERED = {name for name in plugins.names("defense", "vertical") if not defense(name).distributions}
PRIVEES = [defense("privee", rho=rho, draw=draw) for rho in (0.05, 1.0) for draw in ("call", "row")]
PLUS = [defense("privee", draw=draw, form="plus") for draw in ("call", "row")]


def error(guess, game):
    return float(np.square(guess - game.X).mean())


def bounds(low, high, weights, x, known):
    """The largest violation of the inequalities on log-ratios by features x (N, d)."""
    z = x @ weights.T + known
    gaps = z[:, :, None] - z[:, None, :]
    with np.errstate(divide="ignore"):
        return float((np.log(low)[:, :, None] - np.log(high)[:, None, :] - gaps).max())


def scores_of(game):
    return softmax(game.X @ game.W.T + game.Y @ game.V.T + game.bias)


def test_scores_that_are_no_probabilities_are_refused_unless_the_defense_says_so():
    class Says(type(defense("rounding"))):
        distributions = True

    assert sorted(ALTERED) == ["privee", "rounding", "score_gaussian"]
    with pytest.raises(InputError, match="reveal returned rows that add up to 1 only within"):
        Says(decimals=0).reveal(np.zeros((1, 3)), Game(3).context)


@pytest.mark.parametrize("name", sorted(ALTERED))
def test_their_utility_is_accuracy_and_a_divergence_is_not_measured(name, run):
    metrics = {row["metric"] for row in run("three_classes", name).utility}
    assert {"accuracy", "changed_decisions"} <= metrics
    assert "kl" not in metrics
    assert ("promise" in metrics) == (defense(name).auc_bound is not None)


@every_k
@pytest.mark.parametrize("decimals", [1, 2, 4])
def test_rounded_scores_are_within_half_a_digit_and_the_decision_is_among_the_highest(decimals, k):
    game = Game(k, rows=300)
    true, shown = scores_of(game), game.view(defense("rounding", decimals=decimals)).scores
    assert np.abs(shown - true).max() <= 0.5 * 10.0**-decimals + 1e-15
    np.testing.assert_allclose(shown * 10**decimals, np.round(shown * 10**decimals), atol=1e-10)
    top = np.take_along_axis(shown, true.argmax(axis=1)[:, None], axis=1)
    assert (shown.max(axis=1, keepdims=True) == top).all()


@every_k
@pytest.mark.parametrize("own", PRIVEES, ids=str)
def test_privee_keeps_all_ranks_and_its_sums_are_those_of_its_definition(own, k):
    game = Game(k, rows=300)
    true, shown = scores_of(game), game.view(own).scores
    np.testing.assert_array_equal(shown.argsort(axis=1), true.argsort(axis=1))
    tie = own.reveal(np.zeros((5, k)), game.context)
    assert (tie.argmax(axis=1) == 0).all()  # as argmax says of equal scores
    spent = shown.sum(axis=1) + 1  # sum s_i c_(i)
    low, high = (np.sort(true, axis=1) @ ends for ends in (3 * np.arange(k) / k, 3 * np.arange(1, k + 1) / k))
    assert (low * UNIT / own.rho <= spent + 1e-12).all()
    assert (spent <= high * UNIT / own.rho + 1e-12).all()


@every_k
@pytest.mark.parametrize("own", PLUS, ids=str)
def test_of_privee_plus_only_near_ties_of_neighbors_swap_and_its_factors_are_of_its_schedule(own, k):
    game = Game(k, rows=2000)
    true, shown = scores_of(game), game.view(own).scores
    order, unit = true.argsort(axis=1), UNIT / np.linspace(0.05, 0.1, k + 1)[1:]
    sorted_true, along = (np.take_along_axis(scores, order, axis=1) for scores in (true, shown))
    s = (along + 2 / k) / sorted_true - 1
    low, high = np.arange(k) / k * unit, np.arange(1, k + 1) / k * unit
    assert (s >= low - 1e-6).all()
    assert (s <= high + 1e-6).all()
    swapped = along[:, :-1] > along[:, 1:]
    most = (1 + high[:-1]) / (1 + low[1:])
    assert (sorted_true[:, 1:] / sorted_true[:, :-1] < most)[swapped].all()
    assert most.max() < 1.25
    assert (along[:, :-2] < along[:, 2:]).all()  # what is two places apart never swaps


@pytest.mark.parametrize(("k", "swaps"), [(2, False), (6, True)])
def test_privee_plus_is_undone_to_the_last_digits_where_it_swapped_too(k, swaps):
    own, swapped = defense("privee", form="plus"), 0
    for seed in range(8):
        game = Game(k, rows=200, seed=seed)
        shown, true, intervals = game.view(own).scores, scores_of(game), stretches(k, own.rho, own.form)
        np.testing.assert_allclose(_scores.unstretched(shown, *intervals), true, rtol=1e-8, atol=1e-12)
        swapped += (shown.argsort(axis=1) != true.argsort(axis=1)).any(axis=1).sum()
        low, high = _scores.stretched(shown, *intervals)
        assert (low <= true).all()
        assert (true <= high).all()
    assert swapped or not swaps


def test_the_matrix_of_privee_is_an_isometry_and_its_unit_that_of_the_code():
    matrix = np.eye(5) - 2 / 5
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(5), atol=1e-15)
    assert abs(UNIT - 0.48448) < 5e-6


def test_the_noise_on_scores_has_its_deviation_and_accounted_noise_does_not_average_out():
    context = Game(4).context
    for queries, accounted, expected in [(1, False, UNIT / 2), (25, False, UNIT / 10), (25, True, UNIT / 2)]:
        own = defense("score_gaussian", epsilon=2.0, queries=queries, accounted=accounted)
        noise = own.reveal(np.zeros((20000, 4)), context) - 0.25
        assert noise.std() == pytest.approx(expected, rel=0.02)  # 80,000 draws: 0.25% in one deviation


@pytest.mark.parametrize(("queries", "accounted"), [(1, False), (9, False), (9, True)])
def test_the_bound_on_two_rows_is_attained_by_the_optimal_test_and_is_that_of_the_gaussian_mechanism(
    queries, accounted
):
    own = defense("score_gaussian", epsilon=1.0, queries=queries, accounted=accounted)
    sd = deviation(1.0, queries, accounted)
    assert own.auc_bound == pytest.approx(ndtr(np.sqrt(2) / sd / np.sqrt(2)))
    sharp = np.repeat(1e3 * np.eye(2), 20000, axis=0)  # scores (1, 0) and (0, 1)
    shown = own.reveal(sharp, Game(2).context) @ [1, -1]  # the log-likelihood ratio but for a factor
    auc = np.mean(shown[:20000] > shown[20000:])
    assert abs(auc - own.auc_bound) <= 4 * np.sqrt(own.auc_bound * (1 - own.auc_bound) / 20000)
    # The classical calibration is not tight: at the claimed sensitivity the exact mechanism needs less noise.
    assert gaussian_deviation(0.9, 1e-5, 1, 0.1) < deviation(0.9, 1, False)
    assert gaussian_auc(0.9, 1e-5, 1) > ndtr(0.1 / deviation(0.9, 1, False) / np.sqrt(2))


@pytest.mark.parametrize("decimals", [0, 1, 3])
@every_k
def test_the_truth_satisfies_the_intervals_of_rounding_and_so_does_the_guess(decimals, k):
    game = Game(k)
    view = game.view(defense("rounding", decimals=decimals))
    known, intervals = game.Y @ game.V.T + game.bias, _scores.rounded(view.scores, decimals)
    assert bounds(*intervals, game.W, game.X, known) <= 1e-12
    guess = ATTACK.infer(view)
    assert bounds(*intervals, game.W, guess, known) <= 1e-6
    # A projection on a convex set that has the truth in it is nowhere further from the truth than what it projects.
    assert (np.square(guess - game.X).sum(axis=1) <= np.square(0.5 - game.X).sum(axis=1) + 1e-7).all()


@every_k
def test_with_many_decimals_the_intervals_are_the_equations(k):
    game = Game(k)
    np.testing.assert_allclose(game.guess(defense("rounding", decimals=12)), game.solution(), atol=1e-5)


@pytest.mark.parametrize(("k", "d"), [(11, 10), (6, 18)])
def test_equation_solving_on_rounded_scores_is_worse_than_one_half_and_intervals_are_better(k, d):
    """It takes logarithms of zeros, which it clamps: an error that is measured with it is no protection."""
    game = Game(k, d=d, rows=100)
    view = game.view(defense("rounding", decimals=1))
    assert (view.scores == 0).any(axis=1).mean() > 0.5
    naive = polytope.half_star(*linear_system(view)).clip(0, 1)
    half = error(0.5, game)
    assert error(naive, game) > half > error(ATTACK.infer(view), game)


@every_k
@pytest.mark.parametrize("rows", [None, 100])
def test_one_draw_of_privee_is_undone_to_the_last_digits(rows, k):
    game = Game(k, rows=rows or k)
    view = game.view(defense("privee"))
    found = _scores.unstretched(view.scores, *stretches(k, 0.1, "privee"))
    np.testing.assert_allclose(np.log(found), np.log(scores_of(game)), atol=1e-10)
    assert error(ATTACK.infer(view), game) == pytest.approx(error(game.solution(), game), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("form", ["privee", "plus"])
def test_scores_too_small_for_the_digits_of_privee_are_bounded(form):
    game = Game(6, rows=300)
    game.V[0, 0], game.Y[:, 0] = -45, np.linspace(0, 1, 300)  # scores of one class down to some 1e-20
    view = game.view(defense("privee", form=form))
    found, own = _scores.unstretched(view.scores, *stretches(6, 0.1, form)), game.Y @ game.V.T + game.bias
    assert (found <= 0).any()
    naive = undo.solved(undo.Model(game.W, own, np.log(np.maximum(found, np.finfo(float).tiny))))
    guess = ATTACK.infer(view)
    assert (np.square(guess - game.X).sum(axis=1) <= np.square(0.5 - game.X).sum(axis=1) + 1e-7).all()
    assert error(game.solution(), game) <= error(guess, game) < error(naive, game)


@every_k
@pytest.mark.parametrize("own", PRIVEES, ids=str)
def test_the_truth_satisfies_what_is_known_of_privee_s_factors(own, k):
    game = Game(k)
    low, high = _scores.stretched(game.view(own).scores, *stretches(k, own.rho, own.form))
    true = scores_of(game)
    assert (low <= true).all()
    assert (true <= high).all()
    assert (high / low).max() < 1.001 * (1 + 3 * UNIT / (k * own.rho))  # of the lowest class; 0.1% is SLACK
    guess = _scores.within(game.W, game.Y @ game.V.T + game.bias, low, high)
    assert (np.square(guess - game.X).sum(axis=1) <= np.square(0.5 - game.X).sum(axis=1) + 1e-7).all()


def test_fewer_rows_than_classes_leave_privee_s_factors_in_their_intervals():
    game = Game(6, rows=3)
    view = game.view(defense("privee", rho=1.0))
    assert _scores.unstretched(view.scores, *stretches(6, 1.0, "privee")) is None
    assert error(ATTACK.infer(view), game) <= error(0.5, game) + 1e-7


@every_k
def test_noise_on_scores_averages_out_over_queries_unless_it_is_accounted(k):
    game = Game(k, rows=200)

    def errs(queries, accounted):
        return error(game.guess(defense("score_gaussian", queries=queries, accounted=accounted)), game)

    bare = error(game.solution(), game)
    few, many, endless = (errs(queries, False) for queries in (1, 10**4, 10**14))
    assert few > many > bare
    assert endless == pytest.approx(bare, rel=1e-3, abs=1e-6)
    assert errs(10**14, True) > many


@every_k
def test_the_guess_from_noisy_scores_is_more_likely_than_one_half_and_no_worse_under_much_noise(k):
    game = Game(k, rows=200)
    game.X = generator("uniform", k).random(game.X.shape)  # as the adversary takes them to be
    for epsilon in (1.0, 10.0):
        own = defense("score_gaussian", epsilon=epsilon)
        view, sd = game.view(own), deviation(epsilon, 1, False)

        def unlikely(x, view=view, sd=sd):
            shown = softmax(x @ game.W.T + game.Y @ game.V.T + game.bias)
            return np.square((view.scores - shown) / sd).sum(axis=1) + 12 * np.square(x - 0.5).sum(axis=1)

        guess = ATTACK.infer(view)
        assert (unlikely(guess) <= unlikely(np.full_like(guess, 0.5)) + 1e-9).all()
        assert error(guess, game) <= error(0.5, game)


def agnostic(seen, **parameters):
    method = plugins.create("attack", "agnostic", parameters)
    return method.infer(View("agnostic", method.sees, seen, None))


def test_agnostic_s_guess_is_bitwise_the_same_under_every_defense_of_scores(run, cases):
    """pps alone publishes other weights."""
    found = {
        name: [agnostic(seen) for _, seen, _ in cases(run("three_classes", name))]
        for name in ("none", "class_label", "score_noise", *sorted(ALTERED), "pps")
    }
    same = {name: all(map(np.array_equal, own, found["none"])) for name, own in found.items()}
    assert same == dict.fromkeys(found, True) | {"pps": False}


@pytest.mark.parametrize("weight", [0.0, 2.0])
def test_agnostic_is_rcc2_where_own_features_tell_the_logits(weight):
    """Passive features are a linear function of own ones, or have no weight: then W^ y becomes the true logits."""
    draw = generator("agnostic", weight)
    n, a, d, k = 40000, 4, 3, 3
    own = draw.random((n, a))
    passive = own @ draw.dirichlet(np.ones(a), d).T
    W, V = weight * np.eye(k, d), draw.standard_normal((k, a))
    logits = passive @ W.T + own @ V.T
    labels = (logits + draw.gumbel(size=logits.shape)).argmax(axis=1)
    rows = slice(200)
    seen = {
        "own_features": own, "own_labels": labels, "active_features": own[rows], "active_weights": V,
        "passive_weights": W, "bias": np.zeros(k),
    }  # fmt: skip
    scores = {"scores": softmax(logits[rows])}
    center = polytope.project(*linear_system(View("test", {*seen, *scores}, seen | scores, None)), 0.5)
    guess, truth = agnostic(seen), passive[rows]
    if not weight:
        np.testing.assert_allclose(guess, 0.5, atol=1e-12)
    assert np.square(guess - center).mean() < 0.1 * np.square(0.5 - truth).mean()


def test_agnostic_with_scores_predicts_better_by_other_rows_scores_and_never_reads_a_row_s_own():
    """Few rows have labels, drawn by the scores, and many have scores: a regression on both is nearer to the model."""
    draw = generator("agnostic with scores")
    own, W = draw.random((260, 3)), 3 * draw.standard_normal((3, 2))
    passive, V = own @ draw.dirichlet(np.ones(3), 2).T, draw.standard_normal((3, 3))
    logits = passive @ W.T + own @ V.T
    few, rows = slice(60), slice(60, None)
    labels = (logits + draw.gumbel(size=logits.shape)).argmax(axis=1)
    seen = {
        "own_features": own[few], "own_labels": labels[few], "active_features": own[rows], "active_weights": V,
        "passive_weights": W, "bias": np.zeros(3), "scores": softmax(logits[rows]),
    }  # fmt: skip
    blind, guess = agnostic(seen), agnostic(seen, scores=True)
    assert np.square(guess - passive[rows]).mean() < np.square(blind - passive[rows]).mean() / 2
    other = seen["scores"].copy()
    other[::2] = other[::2, ::-1]
    changed = agnostic(seen | {"scores": other}, scores=True) != guess
    assert not changed[::2].any()
    assert changed[1::2].any()
    assert np.isfinite(agnostic(seen | {"scores": other - 2}, scores=True)).all()


@pytest.fixture(scope="module")
def grn_errors():
    """`grn_errors(k, copies, deviation)`: grn's and half_star's errors (clipped) of 3 features, of noisy scores.

    The passive features are copies of own ones, or independent of them.
    """
    method = plugins.create("attack", "grn", {"steps": 120})

    def errors(k, copies, deviation):
        draw = generator("grn", k)
        own, other = draw.random((2, 200, 3))
        V, W, passive = draw.standard_normal((k, 3)), 3 * np.eye(k, 3), own if copies else other
        scores = softmax(passive @ W.T + own @ V.T) + deviation * draw.standard_normal((200, k))
        seen = {"active_features": own, "active_weights": V, "passive_weights": W, "bias": np.zeros(k)}
        view = View("grn", method.sees, seen | {"scores": scores}, generator("grn's own"))
        solved = polytope.half_star(*linear_system(view)).clip(0, 1)
        return [float(np.square(guess - passive).mean()) for guess in (method.infer(view), solved)]

    return errors


def test_grn_uses_what_the_parties_share_where_noise_leaves_equation_solvers_without_a_clue(grn_errors):
    """Own features tell it which rows are alike, so that noise averages out; independent ones tell nothing."""
    half = 1 / 12
    ours, solved = grn_errors(4, True, 0.1)
    assert ours < half < solved
    assert ours < solved / 2
    assert 0 < grn_errors(4, True, 0.0)[0] < half  # rcc2's is 0
    assert grn_errors(4, False, 0.1)[0] > half


def test_what_exact_scores_leave_open_grn_s_loss_leaves_open_too(grn_errors):
    """The loss depends on x^ by W_pas x^ alone: with more features than equations half_star errs no more."""
    ours, solved = grn_errors(2, True, 0.0)
    assert ours > 0.9 * solved


def test_grn_takes_scores_that_are_no_probabilities():
    game = Game(3)
    method = plugins.create("attack", "grn", {"steps": 5})
    for own in PRIVEES + PLUS:
        seen = game.view(own)
        guess = method.infer(View("grn", method.sees, seen._arrays, generator("y")))
        assert guess.shape == game.X.shape
        assert np.isfinite(guess).all()
