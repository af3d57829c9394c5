"""What a guess without information reaches, and the error of few tested rows, in cells made of scores."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from cutlayer.core.seeds import generator
from cutlayer.ledger.chance import with_chance
from cutlayer.metrics.leakage import chance_floor, leak_auc


def told(attack="a", **metrics):
    rows = [{"setup": "s", "attack": attack, "seed": 0, "metric": m, "value": v} for m, v in metrics.items()]
    return with_chance(pd.DataFrame(rows).assign(skipped="")).set_index("metric")


def test_the_chance_of_an_accuracy_is_the_most_common_value_and_of_an_auc_one_half():
    found = told(attack_accuracy=0.8, attack_auc=0.9, majority=0.6, rows=100)
    assert found.loc["attack_accuracy", ["tested", "chance"]].tolist() == [100, 0.6]
    assert found.loc["attack_accuracy", "error"] == pytest.approx(math.sqrt(0.8 * 0.2 / 100))
    assert found.loc["attack_auc", "chance"] == 0.5
    assert "rows" not in found.index


def test_a_run_has_the_chance_of_its_own_task():
    found = told("", test_accuracy=0.8, task_majority=0.7, rows=50)
    assert found.loc["test_accuracy", "chance"] == 0.7
    assert math.isnan(found.loc["task_majority", "chance"])


def test_a_log_loss_of_two_classes_is_held_against_their_entropy():
    found = told("", test_log_loss=0.4, task_majority=0.75, chance=0.5, rows=50)
    assert found.loc["test_log_loss", "chance"] == pytest.approx(log_loss([0, 0, 0, 1], [0.25] * 4))
    assert math.isnan(told("", test_log_loss=0.4, task_majority=0.3, chance=0.3, rows=9).loc["test_log_loss", "chance"])


def test_a_utility_says_what_its_chance_is():
    two = told(attack_utility=0.8, majority=0.9, chance=0.5, rows=100)
    many = told(attack_utility=0.8, majority=0.3, chance=0.3, rows=100)
    assert (two.loc["attack_utility", "chance"], many.loc["attack_utility", "chance"]) == (0.5, 0.3)
    assert many.loc["attack_utility", "error"] == pytest.approx(0.04)


def test_what_was_picked_with_the_truth_has_no_chance():
    assert math.isnan(told(attack_accuracy_max=0.8, majority=0.6, rows=100).loc["attack_accuracy_max", "chance"])


def test_without_rows_nothing_is_known():
    found = told(mse=0.1).loc["mse"]
    assert found["tested"] == 0
    assert found[["chance", "error"]].isna().all()


@pytest.mark.parametrize(
    ("auc", "error"),
    [("leak_auc", "leak_auc"), ("leak_auc_mean", "leak_auc"), ("attack_utility", "leak_auc"), ("test_auc", "test_auc"),
     ("test_utility", "test_auc"), ("attack_auc", "attack_auc")],
)  # fmt: skip
def test_an_auc_has_the_error_that_was_found_at_scoring_and_else_that_of_its_rows(auc, error):
    older = {auc: 0.8, "chance": 0.5, "majority": 0.6, "rows": 100}
    found = told(**older, **{f"{error}_error": 0.0123})
    assert found.loc[auc, "error"] == 0.0123
    assert found.index.tolist() == [auc, "majority"]  # no exhibit shows it
    assert told(**older).loc[auc, "error"] == pytest.approx(0.0475, abs=0.005)


def test_the_error_of_an_auc_is_that_of_no_accuracy():
    many = told(attack_utility=0.8, chance=0.3, majority=0.3, rows=100, leak_auc_error=0.0123)
    assert many.loc["attack_utility", "error"] == pytest.approx(0.04)


def test_each_case_has_the_error_of_its_own():
    rows = [
        {"setup": "s", "attack": "a", "seed": 0, "step": step, "metric": metric, "value": value, "skipped": ""}
        for step, error in ((1, 0.01), (2, 0.02))
        for metric, value in (("leak_auc", 0.7), ("leak_auc_error", error))
    ]
    assert with_chance(pd.DataFrame(rows))["error"].tolist() == [0.01, 0.02]


def test_the_error_of_a_useless_auc_is_the_exact_one():
    error = told(attack_auc=0.5, majority=0.75, rows=200).loc["attack_auc", "error"]
    assert error == pytest.approx(chance_floor(50, 150) / 1.96)


def test_the_error_of_a_useful_auc_is_not_below_that_of_drawing_the_rows_again():
    """It is the larger one of two, as nothing says which class is positive; 400 draws know it to a tenth."""
    draw, found = generator("auc of 200 rows"), []
    labels = np.repeat([0, 1], [150, 50])
    for _ in range(400):
        found.append(leak_auc(draw.normal(labels * 1.2, 1), labels))
    error = told(attack_auc=float(np.mean(found)), majority=0.75, rows=200).loc["attack_auc", "error"]
    assert error >= 0.9 * np.std(found)
