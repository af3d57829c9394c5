"""Metrics of guesses about attributes: by hand, against scikit-learn, and where values are missing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import auc as area
from sklearn.metrics import balanced_accuracy_score, roc_auc_score, roc_curve

from cutlayer.core.errors import InputError
from cutlayer.metrics.attributes import accuracy, attribute_leak, auc, balanced_accuracy, majority
from cutlayer.metrics.leakage import leak_auc

THREE = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.5, 0.4, 0.1], [0.1, 0.2, 0.7], [0.3, 0.6, 0.1]])
TRUTH = np.array([0, 1, 1, 2, 0])
cases = st.integers(2, 4).flatmap(
    lambda values: st.integers(2, 30).flatmap(
        lambda rows: st.tuples(
            arrays(float, (rows, values), elements=st.integers(0, 8).map(float)),
            arrays(np.int64, rows, elements=st.integers(0, values - 1)),
        )
    )
)


def test_by_hand():
    # Guesses 0 1 0 2 1: right are the rows 0, 1 and 3; of the values ½, ½ and 1.
    assert accuracy(THREE, TRUTH) == 3 / 5
    assert balanced_accuracy(THREE, TRUTH) == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    # Pairs in order: 0 has 5 of 6 (0.6, 0.3 over 0.2, 0.5, 0.1), 1 has 4 of 6 (0.5, 0.4 over 0.3, 0.2, 0.6), 2 has all.
    assert auc(THREE, TRUTH) == pytest.approx((5 / 6 + 4 / 6 + 4 / 4) / 3)
    assert majority(TRUTH) == 2 / 5


@given(cases)
def test_a_perfect_guess_has_1_and_a_constant_one_the_majority_and_chance(case):
    scores, truth = case
    values = scores.shape[1]
    perfect = np.eye(values)[truth]
    several = len(np.unique(truth)) > 1
    assert accuracy(perfect, truth) == balanced_accuracy(perfect, truth) == 1
    assert auc(perfect, truth) == (1 if several else 0.5)
    constant = np.tile(np.bincount(truth, minlength=values) / len(truth), (len(truth), 1))
    assert accuracy(constant, truth) == pytest.approx(majority(truth))
    assert balanced_accuracy(constant, truth) == pytest.approx(1 / len(np.unique(truth)))
    assert auc(constant, truth) == 0.5


@given(cases)
def test_balanced_accuracy_is_scikit_learn_s_without_its_warning(case):
    scores, truth = case
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = balanced_accuracy(scores, truth)
        accuracy(scores, truth), auc(scores, truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ours == pytest.approx(balanced_accuracy_score(truth, scores.argmax(axis=1)))


@given(cases)
def test_the_auc_is_the_leak_auc_of_two_values_and_the_macro_mean_of_more(case):
    scores, truth = case
    values = scores.shape[1]
    if values == 2:
        expected = leak_auc(scores[:, 1], truth)
        assert auc(scores, truth) == pytest.approx(0.5 if expected is None else expected)
    elif len(np.unique(truth)) == values:
        rows = (1 + scores) / (1 + scores).sum(axis=1, keepdims=True)  # scikit-learn asks for probabilities
        expected = roc_auc_score(truth, rows, multi_class="ovr", average="macro")
        assert auc(rows, truth) == pytest.approx(expected)


@given(cases)
def test_the_auc_is_scikit_learn_s_to_the_last_bit(case):
    scores, truth = case
    found = np.unique(truth)
    if len(found) > 1:
        told = found[1:] if scores.shape[1] == 2 else found
        for kind in (np.float64, np.float32):
            own = scores.astype(kind)
            expected = np.mean([area(*roc_curve(truth == value, own[:, value])[:2]) for value in told])
            assert auc(own, truth) == expected


def test_a_value_that_no_row_has_counts_for_nothing_but_may_be_guessed_in_vain():
    truth = np.array([0, 1, 0, 0])
    scores = np.array([[0.2, 0.1, 0.7], [0.1, 0.8, 0.1], [0.9, 0.1, 0.0], [0.6, 0.2, 0.2]])
    assert accuracy(scores, truth) == 3 / 4
    assert balanced_accuracy(scores, truth) == pytest.approx((2 / 3 + 1) / 2)
    assert auc(scores, truth) == 1.0
    assert auc(scores, np.zeros(4, dtype=int)) == 0.5
    assert majority(truth) == 3 / 4


@given(cases)
def test_the_order_of_the_rows_does_not_matter(case):
    scores, truth = case
    order = np.random.default_rng(0).permutation(len(truth))
    for metric in (accuracy, balanced_accuracy, auc):
        assert metric(scores[order], truth[order]) == pytest.approx(metric(scores, truth))


def test_of_several_epochs_the_last_counts_and_the_best_is_told_too():
    right, wrong = np.eye(3)[TRUTH], np.eye(3)[(TRUTH + 1) % 3]
    found = attribute_leak(np.stack([wrong, right, THREE]), TRUTH)
    assert found == attribute_leak(THREE, TRUTH) | {
        "attack_accuracy_max": 1.0, "attack_balanced_accuracy_max": 1.0, "attack_auc_max": 1.0,
    }  # fmt: skip
    assert set(attribute_leak(THREE, TRUTH)) == {
        "attack_accuracy", "attack_balanced_accuracy", "attack_auc", "majority", "rows",
    }  # fmt: skip
    assert (found["majority"], found["rows"]) == (2 / 5, 5)


def test_the_best_epoch_is_that_of_each_metric():
    truth = np.array([0, 0, 0, 1])
    majority_only = np.tile([0.9, 0.1], (4, 1))
    ranks = np.array([[0.4, 0.6], [0.4, 0.6], [0.4, 0.6], [0.1, 0.9]])
    found = attribute_leak(np.stack([majority_only, ranks]), truth)
    assert found["attack_accuracy_max"] == 3 / 4
    assert found["attack_auc_max"] == 1
    assert found["attack_accuracy"] == 1 / 4


@pytest.mark.parametrize("metric", [accuracy, balanced_accuracy, auc, attribute_leak])
@pytest.mark.parametrize(
    ("scores", "truth", "message"),
    [
        (THREE[:4], TRUTH, r"the shapes are \(4, 3\) and \(5,\)"),
        (THREE[:, 0], TRUTH, r"the shapes are"),
        (THREE[:0], TRUTH[:0], r"the shapes are \(0, 3\) and \(0,\)"),
        (THREE, TRUTH + 1, "a row has a value without a score; expected 0 to 2"),
        (np.where(THREE > 0.65, np.nan, THREE), TRUTH, "a score is not finite"),
        (np.where(THREE > 0.65, np.inf, THREE), TRUTH, "a score is not finite"),
    ],
)
def test_what_is_no_guess_is_refused(metric, scores, truth, message):
    with pytest.raises(InputError, match=rf"^metric\.attributes: {message}"):
        metric(scores, truth)


def test_no_epochs_and_no_rows_are_refused():
    with pytest.raises(InputError, match=r"^metric\.attributes: there are no epochs"):
        attribute_leak(np.zeros((0, 5, 3)), TRUTH)
    with pytest.raises(InputError, match=r"^metric\.attributes: there are no rows"):
        majority(TRUTH[:0])
