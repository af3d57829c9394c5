"""Controls of model completion: what a bottom that never saw the labels reveals is not the training's leak."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.games.test_split import PROTOCOL, SETTINGS, table, task
from torch import nn

from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.split.attacks import model_completion
from cutlayer.games.split.attacks._completion import Completed, probabilities
from cutlayer.metrics.leakage import leak_auc
from cutlayer.plan import plugins

SEEDS, ROWS, KNOWN, WIDTH = 4, 900, 200, 4
ATTACK = model_completion.ModelCompletion(epochs=1, steps=300)


class Bottom(nn.Module):
    """A linear bottom on WIDTH numbers; the embedding of a row's code is added to its first output."""

    def __init__(self, seed, codes):
        super().__init__()
        draw = torch.Generator().manual_seed(seed)
        self.weight, self.codes = nn.Parameter(torch.randn(WIDTH, WIDTH, generator=draw) / WIDTH**0.5), codes
        self.first = torch.eye(WIDTH)[0]

    def forward(self, x):
        return x["x"], x["x"] @ self.weight + self.codes[x["code"]] * self.first


def trained(bottom, features, labels):
    """The bottom after a training with a linear top."""
    top = nn.Linear(WIDTH, 1)
    nn.init.constant_(top.weight, 0.5)
    optimizer = torch.optim.Adam([*bottom.parameters(), *top.parameters()], 0.01)
    for _ in range(200):
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(top(bottom(features)[1]).squeeze(1), labels.float())
        loss.backward()
        optimizer.step()
    return bottom


def completed(bottom, features, labels, seed):
    """AUC of completing a bottom: of a third of the rows, none of them known; all arms draw alike."""
    own = np.arange(2 * ROWS // 3)
    attacked = np.arange(len(own), ROWS)
    seen = {"features": features["x"].numpy(), "known": own[:KNOWN], "known_labels": labels[:KNOWN].numpy()}
    seen |= {"attacked": attacked, "classes": np.array(2)}
    view = View("completion", {*seen}, seen, generator("completed", seed))
    (average,) = ATTACK._fine_tuned(Completed(bottom, features, own, 2, 1, False, view.rng), features, view)
    return leak_auc(probabilities(average, features, attacked)[:, 1], labels[attacked].numpy())


def made(seed):
    """Rows of random numbers, each with a code of its own."""
    numbers = torch.from_numpy(generator("model completion", seed).standard_normal((ROWS, WIDTH))).float()
    return {"x": numbers, "code": torch.arange(ROWS)[:, None]}


def test_where_features_say_the_label_a_fresh_bottom_is_completed_as_well_as_a_trained_one():
    apart, none = [], torch.zeros(ROWS)
    for seed in range(SEEDS):
        features = made(seed)
        labels = (features["x"][:, 0] > 0).long()
        arms = trained(Bottom(seed, none), features, labels), Bottom(seed, none)
        apart.append(np.subtract(*(completed(arm, features, labels, seed) for arm in arms)))
    assert abs(np.mean(apart)) < 2 * np.std(apart, ddof=1) / SEEDS**0.5


def test_a_secret_bit_of_the_label_in_the_embedding_is_found_and_a_fresh_bottom_has_none():
    apart = []
    for seed in range(2):
        features = made(seed)
        labels = torch.from_numpy(generator("secret", seed).integers(2, size=ROWS))  # no feature says it
        planted, fresh = 6.0 * labels, torch.zeros(ROWS)  # several deviations of what numbers add to it
        apart.append(np.subtract(*(completed(Bottom(seed, c), features, labels, seed) for c in (planted, fresh))))
    assert min(apart) > 0.3


def test_a_completion_from_scratch_depends_on_nothing_that_was_trained():
    ((_, seen, _),) = PROTOCOL.cases(outcome_of(task()), "population")
    other = seen | {"bottom": seen["bottom"][::-1].copy()}
    found = {}
    for arm in ("trained", "scratch"):
        method = plugins.create("attack", "model_completion", {"bottom": arm, "epochs": 1, "steps": 3})
        found[arm] = [method.infer(View("arm", method.sees, one, generator("arm"))) for one in (seen, other)]
    np.testing.assert_array_equal(*found["scratch"])
    assert (found["trained"][0] != found["trained"][1]).any()
    assert (found["trained"][0] != found["scratch"][0]).any()


@pytest.mark.parametrize("classes", [2, 4])
def test_a_reassigned_training_has_the_same_rows_and_true_known_labels_and_another_bottom(classes):
    whole, coins = (outcome_of(task(own=table(classes=classes), **own)) for own in ({}, {"coins": "all"}))
    for name in ("features", "known", "known_labels", "attacked", "watched_rows"):
        np.testing.assert_array_equal(whole[name], coins[name])
    assert (whole["snapshots"] != coins["snapshots"]).any()
    assert SETTINGS["known"]["per_class"] * classes == len(coins["known_labels"])


def outcome_of(own):
    outcome = PROTOCOL.run(own)
    return outcome.shared | outcome.transcripts[""]
