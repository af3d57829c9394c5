"""The split protocol's leak metrics agree with calculations by hand, and say what they left out."""

from __future__ import annotations

import numpy as np
import pytest

from cutlayer.core.errors import InputError
from cutlayer.games.split import leak as leaks
from cutlayer.metrics import chance_floor

NAN = np.nan
TWO = {"labels": np.array([[0, 0, 1, 1, 1], [0, 0, 0, 0, 1]])}


def of_batch(score, place=0, truth=TWO):
    return leaks.leak(np.array(score, dtype=float), truth, ("labels", place))


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
    assert found == rows | {"leak_auc": pytest.approx(0.75), "floor": pytest.approx(chance_floor(3, 2)), "one_class": 0}


def test_rows_without_a_guess_are_left_out_of_auc_and_floor():
    found = of_batch([0.0, 3.0, 2.0, NAN, 4.0])  # two positives are left: ahead in 3 of 4 pairs
    rows = {"rows": 4, "majority": 1 / 2, "tpr_at_1pct": 1 / 2}
    assert found == rows | {"leak_auc": pytest.approx(0.75), "floor": pytest.approx(chance_floor(2, 2)), "one_class": 0}


def test_a_batch_of_one_class_has_no_auc_and_is_counted():
    assert of_batch([1.0, 2.0, NAN, NAN, NAN]) == {"one_class": 1}
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
        "rows": 4,
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


@pytest.mark.parametrize(
    ("guess", "target", "message"),
    [
        (np.zeros(4), "labels", r"a guess has the shape \(4,\); \(5,\) is meant"),
        (np.zeros((3, 2)), "population", r"a guess has the shape \(3, 2\); 4 rows are meant"),
        (np.full((4, 2), NAN), "population", "a guess is not finite; a number for each row and class"),
    ],
)
def test_a_guess_that_cannot_be_measured_is_refused(guess, target, message):
    truth = TWO | {"attacked_labels": np.array([0, 0, 1, 1])}
    with pytest.raises(InputError, match=rf"^protocol\.split: {message}"):
        leaks.leak(guess, truth, (target, 0))


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
