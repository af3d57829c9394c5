"""Attacks by similarity, by replay and on sums over a batch: where each must succeed, and where it must fail.

What holds on average is tested on averages, with a tolerance of SIGMAS standard errors.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats
from tests.conftest import SPLIT_SETUPS, _table
from tests.games.test_adaptive_attacks import SIGMAS, error_of, leak  # noqa: F401

from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.base.protocol import Task
from cutlayer.games.split.attacks import _epochs, _principal, _similarity, batch_inversion
from cutlayer.games.split.attacks._surrogate import Surrogates, replayed
from cutlayer.games.split.protocol import losses
from cutlayer.metrics.leakage import leak_auc
from cutlayer.plan import plugins

SPLIT = plugins.create("protocol", "split")
FORMS = ("nearest", "kmeans", "logistic", "spectral")
every_form = pytest.mark.parametrize("form", FORMS)


def labels_of(rows, classes, seed=0):
    """Labels (rows,), first two of each class, whose rows are those that are known."""
    return np.concatenate([np.repeat(np.arange(classes), 2), generator("labels", seed).integers(classes, size=rows)])


def known_of(classes):
    return np.arange(2 * classes)


def on_a_ball(rows, d, radius, rng):
    """Points (rows, d) within a radius of 0."""
    points = rng.standard_normal((rows, d))
    return radius * rng.random((rows, 1)) * points / np.linalg.norm(points, axis=1, keepdims=True)


def accuracy(found, labels, known):
    rest = np.delete(np.arange(len(labels)), known)
    return np.mean(found[rest].argmax(axis=1) == labels[rest])


# Similarity.


@pytest.mark.parametrize("form", ["nearest", "kmeans"])
@pytest.mark.parametrize("classes", [2, 10])
def test_classes_are_told_for_certain_where_they_are_far_enough_apart(form, classes):
    """A row and a known row of its class are within 2 r, one of another class is D - 2 r away: r < D / 4 is enough."""
    rng, labels = generator("far", classes), labels_of(400, classes)
    centers = rng.standard_normal((classes, 16))
    apart = min(np.linalg.norm(a - b) for i, a in enumerate(centers) for b in centers[:i])
    points = centers[labels] + on_a_ball(len(labels), 16, 0.249 * apart, rng)
    found = _similarity.scores(points, known_of(classes), labels[known_of(classes)], form, 0)
    assert accuracy(found, labels, known_of(classes)) == 1


@every_form
def test_orthogonal_classes_are_told_apart_by_every_form(form):
    rng, labels = generator("orthogonal"), labels_of(400, 10)
    points = np.eye(16)[labels] + on_a_ball(len(labels), 16, 0.1, rng)
    found = _similarity.scores(points, known_of(10), labels[known_of(10)], form, 0)
    assert accuracy(found, labels, known_of(10)) == 1


@every_form
@pytest.mark.parametrize("classes", [2, 5])
def test_permuted_known_labels_permute_the_guess(form, classes):
    rng, labels = generator("permuted", form, classes), labels_of(150, classes)
    points, order = rng.standard_normal((len(labels), 6)), np.roll(np.arange(classes), 1)
    points += 3 * np.eye(classes, 6)[labels]
    known = known_of(classes)
    found, turned = (_similarity.scores(points, known, own, form, 0) for own in (labels[known], order[labels[known]]))
    np.testing.assert_allclose(turned[:, order], found, atol=1e-3)  # a regression ends near its optimum


@every_form
def test_rows_that_say_nothing_of_labels_are_guessed_as_by_chance(form):
    found = [
        accuracy(
            _similarity.scores(generator("noise", i).standard_normal((220, 8)), known_of(10), labels[:20], form, i),
            labels, known_of(10),
        )
        for i, labels in enumerate(labels_of(200, 10, seed) for seed in range(20))
    ]  # fmt: skip
    assert abs(np.mean(found) - 0.1) < SIGMAS * np.sqrt(0.1 * 0.9 / (200 * 20))


def test_clusters_are_named_by_the_assignment_that_agrees_most_with_known_rows():
    labels, found = np.array([0, 0, 0, 1, 1, 2]), np.array([2, 2, 0, 0, 0, 0])
    np.testing.assert_array_equal(_similarity.named(found, labels, 3), [2, 0, 1])  # 0 is 1's: 2 of 2, and one a class


def test_the_spectrum_is_that_of_cosine_affinities():
    rows = generator("spectrum").standard_normal((30, 4))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    affinity = 1 + unit @ unit.T
    degree = affinity.sum(axis=1)
    vectors = np.linalg.eigh(affinity / np.sqrt(np.outer(degree, degree)))[1][:, ::-1][:, :3]
    found = _similarity.spectrum(rows, 3) / np.sqrt(len(rows)) * np.sqrt(degree)[:, None]
    np.testing.assert_allclose(np.abs(found.T @ vectors), np.eye(3), atol=1e-9)


def test_the_last_gradient_of_a_record_is_of_the_last_epoch_in_which_it_was_in_a_batch():
    gradients = np.arange(12.0).reshape(3, 2, 2)
    seen = {"watched_gradients": gradients, "watched_steps": np.array([[0, 1], [3, 2], [5, -1]])}
    (rows,), (steps,) = _epochs.tracked(View("a", set(seen), seen, generator("last")), "last")
    np.testing.assert_array_equal(rows, [gradients[2, 0], gradients[1, 1]])
    assert steps.tolist() == [5, 2]


@every_form
def test_similarity_tells_labels_of_undefended_trainings(form, leak):  # noqa: F811
    for epochs in ("last", "all"):
        assert leak("clicks", "none", "similarity", {"form": form, "epochs": epochs}) > 0.95
    assert leak("images", "none", "similarity", {"form": form, "epochs": "all"}) > 0.5  # of ten classes


def test_similarity_is_at_chance_under_differential_privacy(leak):  # noqa: F811
    """130 rows or more, a tenth of them positive."""
    found = [leak("clicks", "dp", "similarity", {"form": form}, epsilon=1.0) for form in ("nearest", "kmeans")]
    assert max(np.abs(np.array(found) - 0.5)) < SIGMAS * error_of(1, 130, 0.1)


@pytest.mark.parametrize("cosine", [False, True])
def test_embeddings_tell_labels_of_new_rows_without_a_gradient(cosine, leak):  # noqa: F811
    """By known rows; that the clusters of embeddings are the classes, of which one is a tenth, nothing says."""
    for form in ("nearest", "logistic"):
        assert leak("clicks", "none", "similarity_embeddings", {"form": form, "cosine": cosine}, True) > 0.8
    assert leak("images", "none", "similarity_embeddings", {"cosine": cosine}) > 0.5
    assert leak("images", "none", "similarity_embeddings", {"form": "logistic", "cosine": cosine}) > 0.5


def test_rows_that_are_embedded_in_one_place_are_not_told_apart(split_run, split_cases):
    ((case, seen, rows),) = split_cases(split_run("clicks"), "population")
    for form in ("nearest", "logistic"):  # K-means finds no second cluster
        method = plugins.create("attack", "similarity_embeddings", {"form": form})
        blind = seen | {"bottom": np.zeros_like(seen["bottom"])}
        guess = method.infer(View("similarity_embeddings", method.sees, blind, generator("blind")))
        assert SPLIT.leak(guess, split_run("clicks").truth, case, rows)["attack_utility"] == 0.5


# Replay.


def surrogates(rows=60, d=5, classes=3, hidden=8, count=2, seed=0):
    rng = generator("surrogates", seed)
    return Surrogates(torch.from_numpy(rng.standard_normal((rows, d))), classes, hidden, count, rng)


def test_a_surrogate_s_gradients_are_those_of_its_cross_entropy():
    tops, rows = surrogates(), np.array([4, 1, 33])
    labels = torch.from_numpy(generator("soft").dirichlet(np.ones(3), 3))
    found, log_p = tops(rows, labels)
    at = (tops.inputs * tops.scale).requires_grad_()
    tops.inputs = at / tops.scale
    own = -(labels * tops(rows, labels)[1]).sum(dim=2)
    for one in range(2):
        (expected,) = torch.autograd.grad(own[one].sum(), at, retain_graph=True)
        torch.testing.assert_close(found[one], expected[rows])
    torch.testing.assert_close(log_p.exp().sum(dim=2), torch.ones(2, 3, dtype=torch.float64))


def replay(rows, seed, told):
    """The accuracy of replayed labels of rows whose gradients are a top's, or noise of their size."""
    rng, labels = generator("replay", seed), labels_of(rows, 2, seed)
    theirs = surrogates(len(labels), 8, 2, 16, 1, seed)
    with torch.no_grad():
        g = theirs(np.arange(len(labels)), torch.eye(2)[torch.from_numpy(labels)].double())[0][0]
    g = g if told else torch.from_numpy(rng.standard_normal(g.shape)) * g.square().mean().sqrt()
    known, prior = known_of(2), torch.from_numpy(np.bincount(labels) / len(labels))
    own = Surrogates(theirs.inputs, 2, 16, 1, rng)
    given = torch.eye(2)[torch.from_numpy(labels[known])].double()
    guess, _ = replayed(own, np.arange(len(labels)), g, prior, known, given, 1.0, 200, rng)
    return accuracy(guess.detach().numpy(), labels, known)


def test_replay_finds_the_labels_by_which_a_top_model_made_gradients_and_none_in_noise():
    assert np.mean([replay(100, seed, True) for seed in range(3)]) > 0.95
    assert abs(np.mean([replay(100, seed, False) for seed in range(5)]) - 0.5) < SIGMAS * np.sqrt(0.25 / 500)


def test_gradients_of_no_weight_change_no_bit_of_a_replay():
    """A weight that is not 0 but vanishes in single precision: gradients are computed, and count for nothing."""

    def fitted(match):
        rng = generator("weightless")
        h, g = (torch.from_numpy(rng.standard_normal((40, 5))).float() for _ in range(2))
        known, given = np.arange(4), torch.eye(2)[torch.arange(4) % 2]
        return replayed(Surrogates(h, 2, 8, 2, rng), np.arange(40), g, torch.ones(2) / 2, known, given, match, 30, rng)

    (found, best), (same, also) = fitted(0.0), fitted(5e-324)
    assert torch.equal(found, same)
    assert best == also


def test_exploit_tells_labels_of_undefended_trainings(leak):  # noqa: F811
    fast = {"steps": 200, "restarts": 1}
    for form in ("fitted", "enumerate"):
        assert leak("clicks", "none", "exploit", fast | {"form": form}) > 0.9
        assert leak("images", "none", "exploit", fast | {"form": form}) > 0.5


def test_the_control_of_exploit_does_not_depend_on_gradients(split_run, split_cases):
    method = plugins.create("attack", "exploit", {"match": 0.0, "steps": 20, "restarts": 1})
    ((_, seen, _),) = split_cases(split_run("clicks"), "watched")
    other = seen | {"watched_gradients": seen["watched_gradients"][:, ::-1]}
    found = [method.infer(View("exploit", method.sees, what, generator("control"))) for what in (seen, other)]
    np.testing.assert_array_equal(*found)
    matched = plugins.create("attack", "exploit", {"steps": 20, "restarts": 1})
    assert (matched.infer(View("exploit", matched.sees, seen, generator("control"))) != found[0]).any()


# Sums over a batch.


def summed(rows, inputs, seed, d=6):
    """Inputs (B, q) of the last layer, labels, gradients of their sign, and the mean product of the two."""
    rng = generator("summed", rows, inputs, seed)
    a, labels = rng.standard_normal((rows, inputs)), rng.permutation(np.arange(rows) % 2)
    gradients = np.outer(2 * labels - 1, rng.standard_normal(d))
    return a, labels, gradients, gradients.T @ np.hstack([a, np.ones((rows, 1))]) / rows


@pytest.mark.parametrize(("rows", "inputs"), [(16, 15), (16, 32), (33, 32), (34, 32), (64, 8)])
def test_gradients_of_rows_come_out_of_their_sum_if_and_only_if_inputs_are_independent(rows, inputs):
    a, _, gradients, mean = summed(rows, inputs, 0)
    found, known = batch_inversion.recovered(a, mean), np.hstack([a, np.ones((rows, 1))])
    assert np.allclose(found, gradients, atol=1e-8) == (np.linalg.matrix_rank(known) == rows) == (inputs + 1 >= rows)
    np.testing.assert_allclose(found, known @ np.linalg.pinv(known) @ gradients, atol=1e-8)


@pytest.mark.parametrize(("rows", "inputs"), [(160, 32), (320, 32), (1000, 9)])
def test_a_sum_over_more_rows_than_inputs_tells_labels_by_a_law(rows, inputs):
    """With labels independent of the inputs a row's own share in its estimate is its leverage v = q / B.

    The others add noise of variance v (1 - v), so that the AUC is Phi(sqrt(2 v / (1 - v))): 1/2 as B grows. Two-sided.
    """
    aucs = []
    for seed in range(40):
        a, labels, _, mean = summed(rows, inputs, seed)
        one = leak_auc(_principal.skewed(batch_inversion.recovered(a, mean)), labels)
        aucs.append(max(one, 1 - one))
    leverage = inputs / rows
    expected = stats.norm.cdf(np.sqrt(2 * leverage / (1 - leverage)))
    assert abs(np.mean(aucs) - expected) < 0.03


def test_what_is_recorded_of_the_last_layer_is_the_sum_of_the_batch_s_gradients(split_run):
    for setup in ("clicks", "images"):
        seen = split_run(setup).transcripts[""]
        for a, mean, g, h in zip(*(seen[f] for f in FIELDS), strict=True):
            ones, behind = np.hstack([a, np.ones((len(a), 1))]), g * (h > 0)
            np.testing.assert_allclose(mean, behind.T @ ones / len(a), atol=1e-5 * np.abs(mean).max())


FIELDS = ("last_inputs", "last_gradient", "gradients", "embeddings")


def trained(records, batch=64):
    settings = SPLIT_SETUPS["images"] | {"epochs": 1, "batch": batch, "records": records}
    method = plugins.create("defense", "none", {}, "split")
    return SPLIT.run(Task("images", "none", 0, _table("digits"), settings, {"": method})).transcripts[""]


def test_rows_gradients_come_out_of_a_training_s_sums_for_ten_classes_too():
    seen = trained({"batches": 4, "last_layer": True}, batch=16)
    for a, mean, g, h in zip(*(seen[f] for f in FIELDS), strict=True):
        assert np.linalg.matrix_rank(np.hstack([a, np.ones((16, 1))])) == 16 < a.shape[1]
        found, behind = batch_inversion.recovered(a, mean), g * (h > 0)
        assert np.linalg.norm(found - behind) < 0.01 * np.linalg.norm(behind)


def test_recording_the_last_layer_changes_no_bit_and_a_setup_asks_for_it(split_run, split_cases):
    plain, more = trained({"batches": 2}), trained({"batches": 2, "last_layer": True})
    assert more.keys() - plain.keys() == {"last_inputs", "last_gradient"}
    assert all(np.array_equal(plain[name], more[name]) for name in plain)
    method = plugins.create("attack", "batch_inversion")
    _, seen, _ = split_cases(split_run("clicks"), "labels")[0]
    without = {name: part for name, part in seen.items() if name != "last_inputs"}
    assert "here none is recorded" in method.skip(View("batch_inversion", method.sees, without, generator("last")))


def test_sums_tell_labels_of_undefended_trainings(leak):  # noqa: F811
    """Two-sided: a batch of 64 with few positives need not tell the sign."""
    assert leak("clicks", "none", "batch_inversion", two_sided=True) > 0.7


def test_the_optimized_form_tells_labels_of_a_small_batch_of_a_linear_top():
    rng, method = generator("optimized"), plugins.create("attack", "batch_inversion", {"form": "optimized"})
    a, labels, h = rng.standard_normal((16, 24)), np.arange(16) % 4 == 0, rng.random((16, 8)) + 0.1
    gradients = np.outer(np.where(labels, -0.75, 0.25), rng.standard_normal(8))
    seen = {"last_inputs": a, "last_gradient": gradients.T @ np.hstack([a, np.ones((16, 1))]) / 16, "embeddings": h}
    one = leak_auc(method.infer(View("batch_inversion", method.sees, seen, rng)), labels.astype(int))
    assert max(one, 1 - one) > 0.95


# Direct label inference (Fu et al.): with no top model what comes back is p - t.


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_the_gradient_of_logits_is_negative_at_the_label(smoothing):
    """There it is p - (1 - s), elsewhere p - s / (k - 1): without smoothing the one negative entry is the label."""
    rng = generator("direct", smoothing)
    logits, labels = torch.from_numpy(rng.standard_normal((50, 10))), torch.from_numpy(rng.integers(10, size=(50, 1)))
    logits.requires_grad_()
    target = torch.full((50, 10), smoothing / 9, dtype=torch.float64).scatter(1, labels, 1 - smoothing)
    (found,) = torch.autograd.grad(losses(logits, target).sum(), logits)
    p = logits.detach().softmax(dim=1)
    torch.testing.assert_close(found, p - target)
    assert torch.equal(found.gather(1, labels) < 0, p.gather(1, labels) < 1 - smoothing)
    assert smoothing or torch.equal((found < 0).nonzero()[:, 1:], labels)
