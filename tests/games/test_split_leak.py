"""The split protocol's leak metrics agree with calculations by hand, and say what they left out."""

from __future__ import annotations

import numpy as np
import pytest

from cutlayer.core.seeds import generator
from cutlayer.games.split import leak as leaks
from cutlayer.metrics.leakage import chance_floor, leak_auc, tied_auc

NAN = np.nan
TWO = {"labels": np.array([[0, 0, 1, 1, 1], [0, 0, 0, 0, 1]])}


def of_batch(score, place=0, truth=TWO, given=()):
    return leaks.leak(np.array(score, dtype=float), truth, ("labels", place), given)


def rows_of(*batches, kind=""):
    return [{"metric": name + kind, "value": value} for batch in batches for name, value in batch.items()]


def summary(rows):
    found = leaks.summarize(rows)
    assert all((row["step"], row["day"], row["skipped"]) == (0, 0, "") for row in found)
    assert len({row["metric"] for row in found}) == len(found)
    return {row["metric"]: row["value"] for row in found}


def test_the_leak_of_a_batch_is_its_auc_beside_its_chance_floor():
    # Of the 2 x 3 pairs the positive is ahead in 4, behind in 1, and one is a tie.
    found = of_batch([0.0, 3.0, 2.0, 3.0, 4.0])
    rows = {"rows": 5, "majority": 3 / 5, "tpr_at_1pct": 1 / 3}  # above the best negative is one of three
    # The positives are ahead of 1/2, 3/4 and all of the negatives, the negatives behind all and half of the positives.
    rows["leak_auc_error"] = pytest.approx(np.sqrt(np.var([0.5, 0.75, 1], ddof=1) / 3 + np.var([1, 0.5], ddof=1) / 2))
    assert found == rows | {"leak_auc": pytest.approx(0.75), "floor": pytest.approx(chance_floor(3, 2)), "one_class": 0}


def test_rows_that_were_given_and_are_not_guessed_are_left_out_of_auc_and_floor():
    found = of_batch([0.0, 3.0, 2.0, NAN, 4.0], given=[3, 0])  # two positives are left: ahead in 3 of 4 pairs
    rows = {"rows": 4, "majority": 1 / 2, "tpr_at_1pct": 1 / 2, "leak_auc_error": pytest.approx(0.5**1.5)}
    assert found == rows | {"leak_auc": pytest.approx(0.75), "floor": pytest.approx(chance_floor(2, 2)), "one_class": 0}


def test_a_batch_of_one_class_has_no_auc_and_is_counted():
    assert of_batch([1.0, 2.0, NAN, NAN, NAN], given=[2, 3, 4]) == {"one_class": 1}
    assert of_batch(np.arange(5), 0, {"labels": np.ones((1, 5), dtype=int)}) == {"one_class": 1}


def test_the_summary_is_what_one_gets_by_hand():
    auc = [0.9, 0.2, 0.5, 1.0]
    batches = [
        {"leak_auc": a, "floor": f, "one_class": 0.0, "rows": 10.0, "majority": m}
        for a, f, m in zip(auc, [0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8], strict=True)
    ]
    found = summary(rows_of(*batches, {"one_class": 1.0}, {"one_class": 1.0}))
    assert found == {
        "leak_auc_mean": pytest.approx(0.65),
        "leak_auc_median": pytest.approx(0.7),
        "leak_gap_mean": pytest.approx((0.4 + 0.3 + 0 + 0.5) / 4),
        # Of the gaps 0, 0.3, 0.4, 0.5 the 95% quantile is 0.85 of the way from the third to the fourth.
        "leak_gap_q95": pytest.approx(0.485),
        "attack_utility": pytest.approx(0.65),
        "attack_utility_symmetrized": pytest.approx((0.9 + 0.8 + 0.5 + 1.0) / 4),
        "chance_floor": pytest.approx(0.25),
        "one_class_batches": 2,
        "rows": 40,
        "majority": pytest.approx(0.65),
        "chance": 0.5,
    }


def test_the_mean_of_a_single_batch_has_its_error_and_that_of_several_has_none():
    batch = of_batch([0.0, 3.0, 2.0, 3.0, 4.0])
    found = summary(rows_of(batch, {"one_class": 1.0}))
    assert found["leak_auc_error"] == batch["leak_auc_error"] > 0
    assert "leak_auc_error" not in summary(rows_of(batch, batch))  # they may be of the same rows


def test_each_kind_of_guess_is_summed_up_by_itself():
    own, vote = of_batch([0, 1, 2, 3, 4]), of_batch([0, 1, 1, 1, 1])
    found = summary(rows_of(own) + rows_of(vote, {"one_class": 1.0}, kind="_vote"))
    assert found["leak_auc_mean"] == 1
    assert found["leak_auc_mean_vote"] == pytest.approx(4.5 / 6)
    assert (found["one_class_batches"], found["one_class_batches_vote"]) == (0, 1)


def test_batches_of_one_class_alone_leave_their_count():
    assert summary(rows_of({"one_class": 1.0}, {"one_class": 1.0})) == {"one_class_batches": 2}


def test_skipped_cases_and_other_targets_have_no_summary():
    assert summary([{"metric": "", "value": None}, {"metric": "hit", "value": 1.0}]) == {}


def probabilities(second):
    return np.stack([1 - np.array(second), second], axis=1)


def test_the_last_epoch_counts_and_the_oracle_takes_the_best():
    truth = {"attacked_labels": np.array([0, 0, 1, 1])}
    epochs = [probabilities(p) for p in ([0.4, 0.6, 0.5, 0.7], [0.1, 0.2, 0.3, 0.4], [0.6, 0.8, 0.7, 0.9])]
    # Pairs in order: 3, 4 and 3 of 4; at the last epoch all are guessed positive.
    assert leaks.leak(np.stack(epochs), truth, ("population", 0)) == {
        "attack_utility": 0.75, "attack_utility_oracle": 1.0, "attack_accuracy": 0.5, "majority": 0.5, "chance": 0.5,
        "rows": 4, "leak_auc_error": pytest.approx(0.5**1.5),
    }  # fmt: skip
    assert leaks.leak(epochs[1], truth, ("population", 0))["attack_utility"] == 1


def test_more_than_two_classes_are_measured_by_accuracy():
    truth = {"attacked_labels": np.array([0, 1, 2, 2, 2])}
    right, wrong = np.eye(3)[[0, 1, 2, 0, 0]], np.eye(3)[[1, 0, 2, 0, 0]]
    found = leaks.leak(np.stack([right, wrong]), truth, ("population", 0))
    assert found == {
        "attack_utility": 0.2, "attack_utility_oracle": 0.6, "attack_accuracy": 0.2, "majority": 0.6, "chance": 0.6,
        "rows": 5,
    }  # fmt: skip


@pytest.mark.parametrize(("guess", "hit"), [(4, 1), (3, 0)])
def test_a_guess_of_the_dimension_hits_or_not(guess, hit):
    found = leaks.leak(np.array(guess), {"outputs": np.array(4)}, ("dimension", 0))
    assert found == {"guessed": guess, "hit": hit}


def test_rows_that_are_not_guessed_though_none_was_given_tie_with_all():
    found = of_batch([0.0, 3.0, 2.0, NAN, 4.0])  # ahead in 3 of 4 pairs; the pairs of the fourth row count half
    ahead = [0.5, 0.5, 1], [1 - 0.5 / 3, 0.5]  # shares of the other class that is behind positives, before negatives
    rows = {"rows": 5, "majority": 3 / 5, "tpr_at_1pct": 1 / 3}
    rows["leak_auc_error"] = pytest.approx(np.sqrt(sum(np.var(own, ddof=1) / len(own) for own in ahead)))
    expected = {"leak_auc": pytest.approx((3 + 2 / 2) / 6), "floor": pytest.approx(chance_floor(3, 2)), "one_class": 0}
    assert found == rows | expected


def test_six_of_160_rows_are_worth_what_they_are():
    labels = np.repeat([0, 1], [120, 40])
    score = np.full(160, NAN)
    score[[0, 1, 2]], score[[157, 158, 159]] = 0.0, 1.0  # all 9 of these pairs of 4,800 are in order
    found = of_batch(score, truth={"labels": labels[None]})
    assert found["leak_auc"] == pytest.approx(0.5 + 0.5 * 9 / 4800, rel=1e-12)
    assert found["tpr_at_1pct"] == pytest.approx(3 / 40)
    assert (found["rows"], found["floor"]) == (160, pytest.approx(chance_floor(40, 120)))


@pytest.mark.parametrize("told", [[], [0], [4], [3, 4]])
def test_rows_of_one_class_alone_say_nothing(told):
    score = np.full(5, NAN)
    score[told] = 1.0
    found = of_batch(score)
    assert (found["leak_auc"], found["one_class"], found["rows"]) == (0.5, 0, 5)


def test_a_tie_with_all_is_a_random_guess_on_average():
    rng = generator("ties")
    labels, score = rng.integers(0, 2, 40), rng.standard_normal(40)
    score[::3] = NAN
    at_random = [leak_auc(np.where(np.isnan(score), place * 20, score), labels) for place in (-1, 1)]
    assert tied_auc(score, labels) == pytest.approx(_by_pairs(score, labels), rel=1e-12)
    assert min(at_random) <= tied_auc(score, labels) <= max(at_random)


def _by_pairs(score, labels):
    pairs = [(a, b) for a in score[labels == 1] for b in score[labels == 0]]
    return np.mean([0.5 if np.isnan(a) or np.isnan(b) else (a > b) + (a == b) / 2 for a, b in pairs])


def test_of_more_than_two_classes_a_row_that_is_not_guessed_is_right_as_often_as_there_are_classes():
    truth = {"watched_labels": np.array([0, 1, 2, 0])}
    guess = np.eye(3)[[0, 2, 2, 0]]
    guess[3] = NAN
    found = leaks.leak(guess, truth, ("watched", 0))
    assert found["attack_utility"] == found["attack_accuracy"] == pytest.approx((2 + 1 / 3) / 4)
    assert (found["rows"], found["majority"]) == (4, 0.5)
    assert leaks.leak(guess, truth, ("watched", 0), [3])["attack_utility"] == pytest.approx(2 / 3)
    assert leaks.leak(np.full((4, 3), NAN), truth, ("watched", 0))["attack_utility"] == pytest.approx(1 / 3)


def test_a_case_shows_a_batch_and_the_hints_that_are_there():
    transcript = {
        "gradients": np.arange(12).reshape(2, 3, 2), "steps": np.array([1, 9]), "days": np.array([0, 2]),
        "hints": np.array([[1, 2, -1], [-1, -1, -1]]), "classes": np.array(2), "outputs": np.array(20),
    }  # fmt: skip
    cases = list(leaks.cases(transcript, "labels"))
    assert [(case, rows) for case, _, rows in cases] == [
        ({"step": 1, "day": 0}, ("labels", 0)), ({"step": 9, "day": 2}, ("labels", 1)),
    ]  # fmt: skip
    assert [seen["hints"].tolist() for _, seen, _ in cases] == [[1, 2], []]
    np.testing.assert_array_equal(cases[1][1]["gradients"], transcript["gradients"][1])
    assert all(seen.keys() == {"gradients", "hints", "classes", "outputs"} for _, seen, _ in cases)
