"""Why secdt's claims fail where they do: what follows from fake classes alone, whatever the data and the network.

The gradient of a row of fake class i at the top model's outputs is p - e_i, where p is what the model predicts.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutlayer.core.seeds import generator
from cutlayer.games.split.attacks import direction, guess_k, spectral
from cutlayer.games.split.defense import Context, Training
from cutlayer.games.split.defenses.secdt import SecDT, to_class_probabilities
from cutlayer.metrics.leakage import leak_auc

ROWS, POSITIVES, WIDTH = 400, 0.25, 128
SEEDS = range(10)
NOT_ABOUT_HALF = 0.4  # as the claims have it
KNOWS = {"nothing of a row": 0.0, "half": 0.5, "every label": 1.0}  # how sure the model is, beyond the classes' shares


def gradients(expansion: int, sure: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gradients (ROWS, WIDTH) of unit norm at a cut below a random layer, and labels (ROWS,)."""
    rng = generator("fake classes", expansion, seed)
    labels = (rng.random(ROWS) < POSITIVES).astype(int)
    shares = (1 - sure) * np.array([1 - POSITIVES, POSITIVES]) + sure * np.eye(2)[labels]
    predicted = np.repeat(shares / expansion, expansion, axis=1)  # a pool's members are equally likely
    fake = np.eye(2 * expansion)[expansion * labels + rng.integers(expansion, size=ROWS)]
    found = (predicted - fake) @ rng.normal(size=(2 * expansion, WIDTH))
    return found / np.linalg.norm(found, axis=1, keepdims=True), labels


@pytest.mark.parametrize("sure", KNOWS.values(), ids=KNOWS)
@pytest.mark.parametrize("expansion", [4, 10])
def test_rows_of_the_rare_class_agree_with_more_others(expansion: int, sure: float) -> None:
    """Fake classes of one class are opposed, and the common class has most rows, so that each is opposed to most rows.

    The direction attack's AUC is then further below 1/2 than what the claim calls about 1/2, and tells labels to
    whoever turns it round.
    """
    drawn = [gradients(expansion, sure, seed) for seed in SEEDS]
    assert np.mean([leak_auc(direction.score(found), labels) for found, labels in drawn]) < NOT_ABOUT_HALF


@pytest.mark.parametrize("sure", KNOWS.values(), ids=KNOWS)
@pytest.mark.parametrize("expansion", [2, 4, 10])
def test_the_first_axis_is_between_fake_classes_of_the_common_class(expansion: int, sure: float) -> None:
    """So rows of the rare class have small squared projections, and the spectral attack's AUC is far below 1/2."""
    drawn = [gradients(expansion, sure, seed) for seed in SEEDS]
    assert np.mean([leak_auc(spectral.score(found) ** 2, labels) for found, labels in drawn]) < NOT_ABOUT_HALF


def test_the_fewer_fake_classes_the_lower_is_the_spectral_attack() -> None:
    two, four, ten = (
        np.mean([leak_auc(spectral.score(found) ** 2, labels) for found, labels in drawn])
        for drawn in ([gradients(expansion, 0.5, seed) for seed in SEEDS] for expansion in (2, 4, 10))
    )
    assert two < four < ten


def test_the_maximum_map_is_the_decision_itself_and_no_score() -> None:
    """Where a pool's members are equally likely it says the likelier class, and all of two classes' order is lost."""
    rare = np.linspace(0.05, 0.45, 9)
    two = np.repeat(np.stack([1 - rare, rare], axis=1) / 10, 10, axis=1)
    pools = np.arange(20).reshape(2, 10)
    assert not to_class_probabilities(two, pools, "maximum")[:, 1].any()
    assert to_class_probabilities(two, pools)[:, 1] == pytest.approx(rare)


def test_the_maximum_map_is_right_about_ten_classes_as_often_as_the_weighted() -> None:
    shares = generator("ten classes").dirichlet(np.ones(10), size=100)
    many, pools = np.repeat(shares / 10, 10, axis=1), np.arange(100).reshape(10, 10)
    assert (
        to_class_probabilities(many, pools, "maximum").argmax(axis=1)
        == to_class_probabilities(many, pools).argmax(axis=1)
    ).all()


@pytest.mark.parametrize(("form", "mean", "length"), [("softmax", 1 / 20, (0.2, 0.5)), ("raw", 0.0, (3, 6))])
def test_noise_is_on_average_the_same_for_every_class(form: str, mean: float, length: tuple[float, float]) -> None:
    """So the best prediction stays where it was at any level; at a level of 1 the softmax of noise is short beside a
    one-hot target, whose length is 1, and noise itself is several times as long.
    """
    count, draws = 20, 4000
    training = Training(labels=torch.zeros(draws, dtype=torch.int64), classes=2, outputs=count, num_releases=1,
                        generator=torch.Generator().manual_seed(0))  # fmt: skip
    defense = SecDT(noise=1.0, noise_form=form)  # type: ignore[arg-type]
    state = defense.begin(training)
    noise = defense.soft_labels(Context(training, torch.arange(draws), state)).numpy()
    noise[np.arange(draws), state.labels] -= 1
    error = noise.std(axis=0) / np.sqrt(draws)
    assert np.all(np.abs(noise.mean(axis=0) - mean) < 5 * error)
    assert length[0] < np.median(np.linalg.norm(noise, axis=1)) < length[1]


def test_patterns_of_rectifiers_hide_how_many_fake_classes_there_are() -> None:
    """Gradients of a fake class are on one point for each pattern of the top model: the score's maximum is at these."""
    rng = generator("patterns")
    classes, patterns, width = 4, 3, 32
    slopes = rng.normal(size=(patterns, classes, width))  # of the top model's outputs, for each pattern
    fake, pattern = rng.integers(classes, size=300), rng.integers(patterns, size=300)
    points = slopes[pattern, fake] + 1e-3 * rng.normal(size=(300, width))
    one = slopes[0, fake] + 1e-3 * rng.normal(size=(300, width))
    assert guess_k.clusters(one, 20, 10, rng) == classes
    assert guess_k.clusters(points, 20, 10, rng) == classes * patterns
