"""Metrics of leakage and calibration agree with their definitions, and with a library where there is one."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from cutlayer import metrics
from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.metrics import attributes
from cutlayer.metrics.calibration import adaptive_calibration_error
from cutlayer.metrics.leakage import auc_error, chance_floor, leak_auc, tied_auc, true_positives
from cutlayer.metrics.utility import utility
from cutlayer.plan import code, plugins


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=40))
def test_leak_auc_is_the_share_of_pairs_in_order_and_ties_count_half(pairs):
    score, label = np.array([s for s, _ in pairs], dtype=float), np.array([y for _, y in pairs])
    high, low = score[label], score[~label]
    if not len(high) or not len(low):
        assert leak_auc(score, label) is None
        return
    wins = (high[:, None] > low).mean() + (high[:, None] == low).mean() / 2
    assert leak_auc(score, label) == pytest.approx(wins, abs=1e-12)
    assert leak_auc(score, label) == pytest.approx(roc_auc_score(label, score), abs=1e-12)
    assert leak_auc(-score, label) == pytest.approx(1 - wins, abs=1e-12)


def test_leak_auc_takes_infinite_scores():
    assert leak_auc([-math.inf, 0.0, math.inf, math.inf], [0, 0, 1, 0]) == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("score", "label", "message"),
    [
        ([0.0, math.nan], [0, 1], "metric.leak_auc: a score is NaN; every example needs a number"),
        ([0.0, 1.0], [0, 2], "metric.leak_auc: a label is neither 0 nor 1; expected two classes"),
        ([0.0], [0, 1], "metric.leak_auc: the shapes are (1,) and (2,); one score and one label a row"),
    ],
)
def test_leak_auc_refuses(score, label, message):
    with pytest.raises(InputError) as error:
        leak_auc(score, label)
    assert str(error.value) == message


def by_pairs(score, label):
    """DeLong's standard error from all pairs; a score that is NaN ties with all."""
    high, low = score[label == 1][:, None], score[label == 0]
    ahead = np.where(np.isnan(high) | np.isnan(low), 0.5, (high > low) + (high == low) / 2)
    parts = ahead.mean(axis=1), ahead.mean(axis=0)
    return math.sqrt(sum(np.var(part, ddof=1) / len(part) for part in parts))


SCORED = st.tuples(st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, math.inf, math.nan]), st.integers(0, 1))


@given(st.lists(SCORED, min_size=2, max_size=40))
def test_the_error_of_an_auc_is_that_of_all_pairs(pairs):
    score, label = np.array([s for s, _ in pairs]), np.array([y for _, y in pairs])
    if min(label.sum(), (1 - label).sum()) < 2:
        assert auc_error(score, label) is None
        return
    assert auc_error(score, label) == pytest.approx(by_pairs(score, label), abs=1e-12)
    assert auc_error(-score, label) == pytest.approx(by_pairs(score, label), abs=1e-12)


def test_the_error_of_a_binary_score_is_that_of_two_binomials():
    """Labels kept with probability q by randomized response at epsilon 1, on as many rows as a run on Avazu watches."""
    label, kept = np.repeat([1, 0], [200, 800]), 0.7310586
    said = np.concatenate([np.arange(n) < round(kept * n) for n in (200, 800)]) == label
    assert auc_error(said, label) == pytest.approx(math.sqrt(kept * (1 - kept) * (1 / 200 + 1 / 800)) / 2, rel=0.01)
    assert auc_error(said, label) == pytest.approx(0.0175, abs=1e-4)


def test_a_perfect_auc_and_a_constant_score_have_no_error():
    label = np.repeat([0, 1], [50, 20])
    assert auc_error(label, label) == auc_error(np.zeros(70), label) == 0


def test_the_error_of_an_auc_is_its_scatter_over_samples_of_rows():
    """500 samples know it to 3%; a tenth are three of these."""
    draw, label, aucs, errors = generator("error of an auc"), np.repeat([0, 1], [150, 50]), [], []
    for _ in range(500):
        score = np.where(draw.random(200) < 0.1, math.nan, draw.normal(label * 1.5, 1 + label))
        aucs.append(tied_auc(score, label))
        errors.append(auc_error(score, label))
    assert np.mean(errors) == pytest.approx(np.std(aucs), rel=0.1)


def test_the_error_of_a_mean_of_aucs_counts_the_rows_that_they_share():
    """One trait decides for all three values; were their AUCs of different rows, the error would be a seventh less."""
    draw, aucs, errors = generator("error of a mean of aucs"), [], []
    for _ in range(500):
        truth = draw.choice(3, 200, p=[0.5, 0.3, 0.2])
        scores = draw.normal(truth, 1.5)[:, None] * np.array([-1.0, 0.1, 1.0])
        aucs.append(attributes.auc(scores, truth))
        errors.append(attributes.auc_error(scores, truth))
    assert np.mean(errors) == pytest.approx(np.std(aucs), rel=0.1)


def test_the_error_of_the_auc_of_two_values_is_delongs():
    draw = generator("two values")
    truth = draw.integers(0, 2, 60)
    scores = draw.normal(size=(60, 2)) + np.eye(2)[truth]
    found = attributes.attribute_leak(np.stack([-scores, scores]), truth)
    assert found["attack_auc_error"] == pytest.approx(by_pairs(scores[:, 1], truth))
    assert {row["metric"]: row["value"] for row in utility(np.stack([1 - scores[:, 1], scores[:, 1]], axis=1), truth)}[
        "test_auc_error"
    ] == pytest.approx(by_pairs(scores[:, 1], truth))


@pytest.mark.parametrize("truth", [[1, 1, 1, 1], [0, 0, 0, 1], [0, 0, 1, 2]])
def test_an_auc_of_too_few_rows_has_no_error(truth):
    scores = np.arange(12.0).reshape(4, 3) % 5
    assert attributes.auc_error(scores, np.array(truth)) is None
    assert "attack_auc_error" not in attributes.attribute_leak(scores, np.array(truth))


@given(st.lists(st.tuples(st.integers(-9, 9), st.booleans()), min_size=2, max_size=60), st.floats(0, 0.5))
def test_true_positives_are_the_most_that_a_threshold_finds_at_so_many_false_ones(pairs, false):
    score, label = np.array([s for s, _ in pairs], dtype=float), np.array([y for _, y in pairs])
    if label.all() or not label.any():
        assert true_positives(score, label, false) is None
        return
    at = [(score > threshold) for threshold in [-math.inf, *score]]
    allowed = [over[label].mean() for over in at if over[~label].mean() <= false + 1e-9]
    assert true_positives(score, label, false) == pytest.approx(max(allowed))


def test_true_positives_of_a_useless_score_are_as_rare_as_false_ones():
    rng, label = generator("true positives"), np.arange(1000) < 200
    found = [true_positives(rng.random(1000), label) for _ in range(400)]
    # A share of 200 and a threshold by 800 rows: a standard deviation of about 0.008 each time.
    assert np.mean(found) == pytest.approx(0.01, abs=5 * 0.008 / math.sqrt(400))
    assert true_positives(np.zeros(1000), label) == 0


@pytest.mark.parametrize(("positives", "negatives"), [(256, 768), (13, 115), (40, 40)])
def test_chance_floor_is_the_quantile_of_useless_scores(positives, negatives):
    rng = generator(f"chance {positives}")
    label = np.arange(positives + negatives) < positives
    excess = [abs(leak_auc(rng.random(len(label)), label) - 0.5) for _ in range(1500)]
    # The share beyond a right quantile is 5%; four standard errors of it are 2.3%.
    assert np.mean(np.array(excess) > chance_floor(positives, negatives)) == pytest.approx(0.05, abs=0.023)


def test_chance_floor_of_the_marvell_paper_s_batches():
    assert chance_floor(256, 768) == pytest.approx(0.04, abs=0.005)
    assert chance_floor(13, 115) == pytest.approx(0.17, abs=0.005)
    with pytest.raises(InputError, match=r"metric\.chance_floor: 0 positives and 3 negatives"):
        chance_floor(0, 3)


def by_definition(probabilities, labels, bins):
    total = 0.0
    for k in range(probabilities.shape[1]):
        order = sorted(range(len(labels)), key=lambda i, k=k: probabilities[i, k])
        for part in np.array_split(np.array(order), bins):
            accuracy = sum(labels[i] == k for i in part) / len(part)
            total += abs(accuracy - sum(probabilities[i, k] for i in part) / len(part))
    return total / (probabilities.shape[1] * bins)


@pytest.mark.parametrize(("n", "classes", "bins"), [(15, 2, 15), (100, 2, 15), (101, 4, 7), (20, 1, 1)])
def test_adaptive_calibration_error_is_its_definition(n, classes, bins):
    rng = generator(f"calibration {n}")
    p = np.round(rng.dirichlet(np.ones(classes), size=n), 2)  # with ties
    labels = rng.integers(classes, size=n)
    assert adaptive_calibration_error(p, labels, bins) == pytest.approx(by_definition(p, labels, bins), abs=1e-12)


def test_adaptive_calibration_error_by_hand():
    # Two bins a class: the bins of class 1 have confidences 0.1 and 0.8, accuracies 0 and 1; those of class 0 too.
    p = np.array([0.1, 0.1, 0.8, 0.8])
    assert adaptive_calibration_error(np.stack([1 - p, p], 1), [0, 0, 1, 1], 2) == pytest.approx(0.15)
    # One of each pair is wrong: |1/2 - 0.1| and |1/2 - 0.8|.
    assert adaptive_calibration_error(np.stack([1 - p, p], 1), [0, 1, 1, 0], 2) == pytest.approx(0.35)


def test_calibrated_probabilities_have_a_small_error_and_bold_ones_a_large():
    rng = generator("calibrated")
    p = rng.random(30000)
    labels = (rng.random(30000) < p).astype(int)
    assert adaptive_calibration_error(np.stack([1 - p, p], 1), labels) < 0.02
    bold = (p > 0.5).astype(float)
    assert adaptive_calibration_error(np.stack([1 - bold, bold], 1), labels) > 0.2


def test_fewer_predictions_than_bins_are_a_bin_each():
    assert adaptive_calibration_error([[0.2, 0.8], [0.6, 0.4]], [1, 1]) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("probabilities", "labels", "bins", "message"),
    [
        ([[0.5, math.nan]], [0], 15, "a probability is not from 0 to 1; NaN is refused"),
        ([[0.5, 1.5]], [0], 15, "a probability is not from 0 to 1; NaN is refused"),
        ([[0.5, 0.5]], [2], 15, "a label is not a class; expected 0 to 1"),
        ([[0.5, 0.5]], [0, 1], 15, "the shapes are (1, 2) and (2,); a row of probabilities and one label for each"),
        ([[0.5, 0.5]], [0], 0, "bins = 0; at least 1"),
    ],
)
def test_adaptive_calibration_error_refuses(probabilities, labels, bins, message):
    with pytest.raises(InputError) as error:
        adaptive_calibration_error(probabilities, labels, bins)
    assert str(error.value).startswith(f"metric.adaptive_calibration_error: {message}")


def test_a_protocol_that_uses_other_metrics_is_not_made_of_these():
    """The package's names must not make the runs of every protocol depend on every metric."""
    folder = Path(metrics.__file__).parent
    made_of = {Path(file) for file in code.closure(plugins.method("protocol", "vertical").path)}
    assert folder / "reconstruction.py" in made_of
    assert not made_of & {folder / "__init__.py", folder / "leakage.py", folder / "calibration.py"}
