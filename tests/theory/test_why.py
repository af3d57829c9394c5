"""Why claims of chebyshev fail where they do: what `why` in its paper.yaml says, by numbers that need no other data."""

from __future__ import annotations

import numpy as np
import pytest

from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins

MODEL = {"use": "logistic_regression", "batch": 128, "rate": 0.05, "l2": 0.001}
SETTINGS = {"protocol": "vertical", "dataset": "wine", "fit_on": "all", "predictions": 5, "kl_predictions": 178}


@pytest.mark.parametrize(("name", "near_zero"), [("breast_cancer", True), ("wine", False)])
def test_of_breast_cancer_0_is_a_better_guess_than_one_half(name: str, near_zero: bool) -> None:
    """So least squares and gradient inversion, which begin at 0, gain on guesses from the middle."""
    features = plugins.create("dataset", name).load({}).features
    low, high = features.min(axis=0), features.max(axis=0)
    scaled = (features - low) / (high - low)
    zero, half = (np.mean((scaled - guess) ** 2) for guess in (0.0, 0.5))
    assert (zero < half) == near_zero


def kl(epochs: int) -> float:
    """Between the scores of a model and of one that is trained as long on 1 - x, the largest of all windows."""
    settings = SETTINGS | {"windows": {"sizes": [4, 13], "starts": 1}, "model": MODEL | {"epochs": epochs}}
    table, protocol = plugins.create("dataset", "wine").load({}), plugins.create("protocol", "vertical")
    trained = None
    for name, own in (("none", {}), ("pps", {"retrain": True})):
        defense = plugins.create("defense", name, own, "vertical")
        outcome = protocol.run(Task("wine", name, 0, table, settings, {"": defense}, trained))
        trained = outcome.learned
    return max(row["value"] for row in outcome.utility if row["metric"] == "kl")


def test_the_longer_both_are_trained_the_nearer_are_the_scores_of_a_model_that_is_trained_again() -> None:
    """They do not become equal: what is left then is not explained."""
    assert kl(1000) < kl(10)
