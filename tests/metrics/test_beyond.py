"""Leak beyond features: 1/2 for a function of them, and the mechanism's own leak for what is independent of them."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

from cutlayer.metrics.beyond import MOST_ERROR, adjusted_auc, best_auc, features_suffice
from cutlayer.metrics.leakage import leak_auc

ROWS, RATE, TRIALS = 1000, 0.2, 40
EPSILON = 1.0
KEPT = float(expit(EPSILON))


@functools.cache
def tables(features_auc):
    """TRIALS of labels (W,), log-odds given normal features of this AUC, and log-odds of a draw at EPSILON."""
    slope, found = np.sqrt(2) * norm.ppf(features_auc), []
    for trial in range(TRIALS):
        draw = np.random.default_rng(trial)
        label = (draw.random(ROWS) < RATE).astype(int)
        odds = logit(RATE) + slope * (draw.normal(size=ROWS) + slope * label) - slope**2 / 2
        found.append((label, odds, EPSILON * (2 * np.where(draw.random(ROWS) < KEPT, label, 1 - label) - 1)))
    return found


def mean(values):
    """Mean over the trials and its standard error."""
    values = np.array([*values])
    return values.mean(), values.std(ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("features_auc", [0.7, 0.76, 0.9])
def test_beyond_features_their_own_score_leaks_nothing_and_a_draw_what_it_was_drawn_with(features_auc):
    own, drawn = [], []
    for label, odds, draw in tables(features_auc):
        own.append(adjusted_auc(odds, label, expit(odds))[0])
        drawn.append(adjusted_auc(draw, label, expit(odds)))
    for expected, (found, error) in ((0.5, mean(own)), (KEPT, mean(auc for auc, _ in drawn))):
        assert abs(found - expected) < 3 * error
    covered = np.mean([abs(auc - KEPT) < 1.96 * error for auc, error in drawn])
    assert covered >= 0.85  # of 40 trials, at 95%: less in one of 200


@pytest.mark.parametrize(("features_auc", "largest"), [(0.7, 0.812), (0.76, 0.842), (0.9, 0.928)])
def test_features_and_a_draw_together_reach_the_largest_auc_and_no_score_more(features_auc, largest):
    together, bounds = [], []
    for label, odds, draw in tables(features_auc):
        together.append(leak_auc(odds + draw, label))
        bounds.append(best_auc(KEPT, label, expit(odds), drawn_once=True))
    (found, error), (bound, _) = mean(together), mean(bounds)
    assert abs(found - bound) < 3 * error
    assert bound == pytest.approx(largest, abs=0.004)
    worse = [
        leak_auc(weight * odds + draw, label) for weight in (0.3, 3.0) for label, odds, draw in tables(features_auc)
    ]
    assert np.mean(worse) < bound


def test_with_features_that_say_nothing_the_largest_auc_is_the_bound_itself():
    label, prior = np.arange(ROWS) % 5 == 0, np.full(ROWS, RATE)
    for drawn_once in (True, False):
        assert best_auc(KEPT, label, prior, drawn_once) == pytest.approx(KEPT)
        assert best_auc(0.5, label, prior, drawn_once) == 0.5


def test_where_releases_may_tell_all_the_largest_auc_is_1():
    label, odds, _ = tables(0.76)[0]
    for drawn_once in (True, False):
        assert best_auc(1.0, label, expit(odds), drawn_once) == 1
        assert 0.99 < best_auc(1 - 1e-6, label, expit(odds), drawn_once) <= 1


def test_without_releases_the_largest_auc_is_that_of_the_features():
    label, odds, _ = tables(0.76)[0]
    for drawn_once in (True, False):
        assert best_auc(0.5, label, expit(odds), drawn_once) == pytest.approx(leak_auc(odds, label))


@pytest.mark.parametrize(("slope", "expected"), [(0.5, 0.625), (1.5, 0.397), (0.0, 0.763)])
def test_what_a_model_misses_in_the_features_counts_as_leak(slope, expected):
    wrong = (
        adjusted_auc(odds, label, expit(logit(RATE) + slope * (odds - logit(RATE))))[0]
        for label, odds, _ in tables(0.76)
    )
    found, error = mean(wrong)
    assert abs(found - expected) < 3 * error + 0.005  # of the 100 trials that are expected


def test_an_equal_prior_leaves_the_auc_and_its_error_as_they_are():
    label, odds, draw = tables(0.76)[0]
    found, error = adjusted_auc(odds + draw, label, np.full(ROWS, 0.3))
    assert found == pytest.approx(leak_auc(odds + draw, label))
    assert 0 < error < 0.05


def test_rows_without_a_guess_tie_and_a_single_class_has_no_auc():
    label, odds, _ = tables(0.76)[0]
    assert adjusted_auc(np.full(ROWS, np.nan), label, expit(odds))[0] == 0.5
    assert adjusted_auc(np.full(ROWS, np.inf), label, expit(odds))[0] == 0.5
    assert adjusted_auc(odds, np.ones(ROWS), expit(odds)) is None


def test_the_self_test_fails_where_features_predict_everything_or_the_model_is_off():
    label, odds, _ = tables(0.76)[0]
    assert not features_suffice(*adjusted_auc(odds, label, expit(odds)))
    assert features_suffice(*adjusted_auc(odds, label, np.full(ROWS, RATE)))  # a model that has no features
    sure = 20 * (label - 0.5) * (1 - 2 * (np.arange(ROWS) % 100 == 0))
    assert features_suffice(*adjusted_auc(sure, label, expit(sure)))
    assert features_suffice(0.5, 2 * MOST_ERROR)
