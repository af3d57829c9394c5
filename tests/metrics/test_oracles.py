"""What oracles add to a guess: nothing to a perfect one, something to random guessing, all to wrong names."""

from __future__ import annotations

import numpy as np
import pytest

from cutlayer.core.seeds import generator
from cutlayer.games.split import leak as leaks
from cutlayer.metrics import oracles

NONE = np.zeros(60, dtype=bool)


def scores_of(classes, k):
    return np.eye(k)[classes]


@pytest.mark.parametrize("k", [3, 10])
def test_clusters_named_by_the_truth_are_right_whatever_their_names(k):
    labels = np.arange(60) % k
    found = oracles.of_a_guess(scores_of((labels + 1) % k, k), labels, NONE)
    assert found == {"attack_utility_known": 0, "attack_utility_named": 1}


def test_of_two_classes_a_score_of_the_wrong_sign_is_named_by_the_truth():
    labels = np.arange(60) % 2
    assert oracles.of_a_guess(-labels.astype(float), labels, NONE) == {
        "attack_utility_known": 0, "attack_utility_named": 1,
    }  # fmt: skip


def test_random_guessing_is_above_chance_with_the_truth_s_names():
    draw = generator("oracles")
    labels = draw.integers(0, 10, 60)
    found = [oracles.of_a_guess(draw.random((60, 10)), labels, NONE) for _ in range(50)]
    assert np.mean([one["attack_utility_named"] for one in found]) > 0.2
    assert np.mean([one["attack_utility_known"] for one in found]) == pytest.approx(0.1, abs=0.05)


@pytest.mark.parametrize("classes", [2, 5])
def test_known_rows_that_count_raise_the_utility_by_their_share_of_what_is_wrong(classes):
    labels, used = np.arange(60) % classes, np.arange(60) < 20
    guess = np.zeros(60) if classes == 2 else scores_of((labels + 1) % classes, classes)
    found = oracles.of_a_guess(np.where(used.reshape(-1, *[1] * (guess.ndim - 1)), np.nan, guess), labels, used)
    # Of two classes a third of the rows of each is in order with all others, the rest are ties: 1 - (2/3)^2 / 2.
    assert found["attack_utility_known"] == pytest.approx(1 - 4 / 18 if classes == 2 else 1 / 3)


def test_the_leak_has_the_oracles_only_of_attacks_that_have_known_labels():
    truth = {"watched_labels": np.array([0, 1, 2, 0])}
    guess = np.eye(3)[[0, 2, 2, 0]]
    assert "attack_utility_known" not in leaks.leak(guess, truth, ("watched", 0))
    guess[3] = np.nan
    found = leaks.leak(guess, truth, ("watched", 0), [3])
    assert found["attack_utility_known"] == 3 / 4
    assert found["attack_utility"] == pytest.approx(2 / 3)


def test_the_better_of_two_runs_is_the_larger():
    rows = [
        {"metric": name, "value": value} for name, value in (("attack_utility", 0.6), ("attack_utility_again", 0.7))
    ]
    assert [(row["metric"], row["value"]) for row in leaks.summarize(rows)] == [("attack_utility_better", 0.7)]
    assert leaks.summarize(rows[:1]) == []
