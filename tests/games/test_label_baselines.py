"""randomized_response and marvell_shaped: what each guarantees, and that it does so over many releases.

What holds on average is tested on averages, with a tolerance of SIGMAS standard errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.games.split.attacks import repeated
from cutlayer.games.split.defense import Context, Defense, Training
from cutlayer.games.split.defenses import marvell_shaped
from cutlayer.games.split.defenses.randomized_response import chances
from cutlayer.metrics.leakage import chance_floor, leak_auc
from cutlayer.plan import plugins
from cutlayer.theory.marvell import auc_bound

SIGMAS = 5.0


def defense(name, **parameters):
    return plugins.create("defense", name, parameters, "split")


def context_of(own, labels, classes=2, num_releases=1, seed=0):
    draw = torch.Generator().manual_seed(seed)
    training = Training(
        labels=labels, classes=classes, outputs=own.outputs(classes), num_releases=num_releases, generator=draw
    )
    return Context(training, torch.arange(len(labels)), own.begin(training))


def labels_of(rows, classes=2):
    return torch.from_numpy(generator("baselines", rows, classes).integers(0, classes, rows))


# randomized_response.


@pytest.mark.parametrize("classes", [2, 10])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 600.0])
def test_no_label_is_more_than_e_to_the_epsilon_times_as_likely_as_another(epsilon, classes):
    kept, other = chances(epsilon, classes)
    assert kept + (classes - 1) * other == pytest.approx(1)
    assert math.log(kept / other) == pytest.approx(epsilon)


@pytest.mark.parametrize("classes", [2, 10])
@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_labels_are_kept_as_often_as_stated_and_others_are_equally_likely(epsilon, classes):
    labels, own = labels_of(100_000, classes), defense("randomized_response", epsilon=epsilon, correction="none")
    drawn = own.soft_labels(context_of(own, labels, classes)).argmax(dim=1)
    kept, other = chances(epsilon, classes)
    for step in range(classes):
        chance = other if step else kept
        found = float(((drawn - labels) % classes == step).double().mean())
        assert found == pytest.approx(chance, abs=SIGMAS * math.sqrt(chance * (1 - chance) / len(labels)))


def test_labels_are_drawn_once_whatever_is_sent_how_often():
    labels, own = labels_of(1000), defense("randomized_response")
    context = context_of(own, labels)
    assert torch.equal(own.soft_labels(context), own.soft_labels(context))
    assert torch.equal(own.backward(torch.ones(1000, 3), context), torch.ones(1000, 3))


@pytest.mark.parametrize("classes", [2, 5])
def test_the_corrected_loss_is_that_of_the_true_labels_on_average_over_the_lies(classes):
    """Exactly: the target is averaged over all that a label can become, with its chance."""
    own = defense("randomized_response", epsilon=0.7)
    kept, other = chances(0.7, classes)
    every = torch.arange(classes)
    context = context_of(own, every, classes)
    targets = own.soft_labels(Context(context.training, every, every))  # as if each label were drawn once
    transition = torch.full((classes, classes), other) + (kept - other) * torch.eye(classes)
    torch.testing.assert_close(transition @ targets, torch.eye(classes))
    torch.testing.assert_close(targets.sum(dim=1), torch.ones(classes))


@pytest.mark.parametrize("classes", [2, 5])
def test_corrected_predictions_are_the_true_labels_where_the_lies_were_learned(classes):
    own = defense("randomized_response", epsilon=0.7, correction="prediction")
    kept, other = chances(0.7, classes)
    truth = generator("predictions").dirichlet(np.ones(classes), 50)
    np.testing.assert_allclose(
        own.to_class_probabilities(other + (kept - other) * truth, torch.zeros(1)), truth, atol=1e-12
    )


def test_what_is_sent_in_all_epochs_tells_no_more_than_was_drawn():
    labels = (torch.arange(2000) % 4 == 0).long()
    own = defense("randomized_response", epsilon=1.0, correction="none")
    context = context_of(own, labels)
    drawn = own.soft_labels(context)
    draw = generator("gradients of lies")
    slope = draw.standard_normal(8)
    epochs = np.stack([(0.5 - drawn[:, 1:].numpy()) * slope * draw.random((2000, 1)) for _ in range(20)])
    steps = np.repeat(np.arange(20)[:, None], 2000, axis=1)
    squares = np.square(epochs).sum(axis=2).mean(axis=1)
    rows = repeated.relative(epochs / np.sqrt(squares)[:, None, None], steps, epochs.mean(axis=1), squares)
    auc = leak_auc(repeated.axis(rows), labels.numpy())
    assert max(auc, 1 - auc) == pytest.approx(chances(1.0, 2)[0], abs=SIGMAS * chance_floor(500, 1500) / 1.96)


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("epsilon", [0.5, 600.0])
def test_what_is_drawn_moves_the_odds_of_a_label_by_its_likelihood(classes, epsilon):
    own = defense("randomized_response", epsilon=epsilon)
    training = context_of(own, labels_of(40, classes), classes).training
    state = torch.arange(40) % classes
    kept, other = chances(epsilon, classes)
    likely = np.where(np.arange(classes) == state[:, None].numpy(), math.log(kept), math.log(other))
    found = own.drawn(state, training).numpy()
    odds = found if classes > 2 else np.stack([0 * found, found], axis=1)
    np.testing.assert_allclose(odds - odds[:, :1], likely - likely[:, :1], rtol=1e-5)


def test_nothing_else_says_that_it_draws_for_a_label_once():
    for name, parameters in (("none", {}), ("dp", {}), ("secdt", {}), ("marvell_shaped", {"sum_kl": 0.1})):
        own, labels = defense(name, **parameters), labels_of(20)
        context = context_of(own, labels)
        assert own.drawn(context.state, context.training) is None


# marvell_shaped.


def gradients(rows=64, d=6, rank=6, seed=0):
    draw = generator("shaped", rows, d, rank, seed)
    labels = torch.from_numpy((np.arange(rows) % 4 == 0).astype(np.int64))
    shape = draw.standard_normal((rank, d))
    values = (draw.standard_normal((rows, rank)) * (1 + labels.numpy()[:, None]) + 2 * labels.numpy()[:, None]) @ shape
    return torch.from_numpy(values.astype(np.float32)), labels


def square_root(moment):
    """M^1/2 (d, d)."""
    mixing, _ = marvell_shaped.shape(moment)
    return mixing @ mixing.T


def covariance(own, gradient, labels, num_releases=1, draws=4000):
    context = context_of(own, labels, num_releases=num_releases)
    noise = torch.stack([own.backward(gradient, context) - gradient for _ in range(draws)]).double().flatten(0, 1)
    return noise.T @ noise / len(noise)


def test_the_moment_of_pairs_is_their_mean():
    gradient, labels = gradients()
    pairs = [torch.outer(g - h, g - h) for g in gradient[labels == 1] for h in gradient[labels == 0]]
    found = marvell_shaped.pair_moment(gradient.double(), labels == 1)
    torch.testing.assert_close(found, torch.stack(pairs).mean(dim=0).double(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("num_releases", [1, 6])
@pytest.mark.parametrize("sum_kl", [0.5, 4.0])
def test_the_noise_keeps_its_bound_over_all_releases_and_no_noise_of_less_power_does(sum_kl, num_releases):
    gradient, labels = gradients()
    own = defense("marvell_shaped", sum_kl=sum_kl)
    root = square_root(marvell_shaped.pair_moment(gradient.double(), labels == 1))
    planned = root * root.trace() * num_releases / sum_kl
    found = covariance(own, gradient, labels, num_releases)
    error = SIGMAS * math.sqrt(2 / (4000 * 64))
    assert float((found - planned).norm() / planned.norm()) < error * 6
    bound = num_releases * torch.trace(torch.linalg.solve(planned, root @ root))
    assert float(bound) == pytest.approx(sum_kl, rel=1e-9)
    draw = generator("other shapes")
    for _ in range(100):
        other = torch.from_numpy(np.cov(draw.standard_normal((6, 12))))
        strength = num_releases * torch.trace(torch.linalg.solve(other, root @ root)) / sum_kl
        assert float(strength * other.trace()) >= float(planned.trace()) * (1 - 1e-9)


def test_all_rows_get_noise_alike_so_that_it_tells_nothing_itself():
    gradient, labels = gradients()
    own = defense("marvell_shaped", sum_kl=1.0)
    context = context_of(own, labels)
    noise = torch.stack([own.backward(gradient, context) - gradient for _ in range(4000)]).double()
    power = noise.square().sum(dim=2).mean(dim=0)
    assert (power / power.mean() - 1).abs().max() < SIGMAS * math.sqrt(2 / 4000)


@pytest.mark.parametrize("rank", [1, 6])
@pytest.mark.parametrize("epochs", [1, 9])
def test_no_score_beats_the_bound_after_all_epochs(epochs, rank):
    """The best score there is for these gradients: the likelihood ratio of their mixtures at the true gradients."""
    gradient, labels = gradients(rank=rank)
    own, aucs = defense("marvell_shaped", sum_kl=0.5), []
    root = square_root(marvell_shaped.pair_moment(gradient.double(), labels == 1))
    inverse = torch.linalg.pinv(root * root.trace() * epochs / 0.5, rtol=1e-6)
    context = context_of(own, labels, num_releases=epochs)
    for _ in range(30):
        mean = torch.stack([own.backward(gradient, context) for _ in range(epochs)]).double().mean(dim=0)
        away = mean[:, None] - gradient.double()
        likely = -epochs / 2 * torch.einsum("ijk,kl,ijl->ij", away, inverse, away)
        score = likely[:, labels == 1].logsumexp(dim=1) - likely[:, labels == 0].logsumexp(dim=1)
        aucs.append(leak_auc(score.numpy(), labels.numpy()))
    assert np.mean(aucs) <= auc_bound(0.5) + SIGMAS * chance_floor(16, 48) / 1.96 / math.sqrt(30)
    assert np.mean(aucs) > 0.5


def test_a_batch_of_one_class_gets_the_noise_for_opposite_gradients():
    gradient, _ = gradients()
    for label in (0, 1):
        found = marvell_shaped.pair_moment(gradient.double(), torch.full((64,), bool(label)))
        torch.testing.assert_close(found, 4 * gradient.double().T @ gradient.double() / 64)


def test_the_shape_is_that_of_the_square_root_at_any_magnitude():
    for unit in (1e-60, 1.0, 1e60):
        matrix = unit * torch.tensor([[4.0, 0.0], [0.0, 0.0]], dtype=torch.float64)
        found, power = marvell_shaped.shape(matrix)
        torch.testing.assert_close(found @ found.T, matrix / 2 / math.sqrt(unit))
        assert float(power) == pytest.approx(2 * math.sqrt(unit))
    found, power = marvell_shaped.shape(torch.zeros(3, 3, dtype=torch.float64))
    assert not found.any()
    assert not power


def test_a_target_is_a_row_of_the_labels_as_they_are():
    labels = labels_of(20)
    own = defense("marvell_shaped")
    assert torch.equal(own.soft_labels(context_of(own, labels)), one_hot(labels, 2).float())


# The bound of each defense, as a number.


def bound(name, labels, num_releases, **parameters):
    own = defense(name, **parameters)
    return own.auc_bound(context_of(own, labels, num_releases=num_releases).training)


def test_a_bound_covers_all_releases_of_a_row():
    labels = labels_of(20)
    assert bound("randomized_response", labels, 1, epsilon=1.0) == pytest.approx(1 / (1 + math.exp(-1)), abs=1e-3)
    for name, steady in (("randomized_response", True), ("dp", True), ("marvell_shaped", True), ("marvell", False)):
        parameters = {"sum_kl": 0.1} if "marvell" in name else {"epsilon": 1.0}
        once, often = (bound(name, labels, num_releases, **parameters) for num_releases in (1, 9))
        assert 0.5 < once < 0.75
        assert often == pytest.approx(once, abs=1e-3) if steady else often > once + 0.1
    assert bound("marvell", labels, 9, error=0.4) == bound("marvell", labels, 9, sum_kl=0.4**2)


def test_a_defense_without_a_guarantee_has_no_bound():
    for name, parameters in (("none", {}), ("iso", {}), ("secdt", {}), ("mixpro", {}), ("marvell", {"power": 2.0})):
        assert bound(name, labels_of(20), 3, **parameters) is None


def test_a_bound_below_one_half_is_refused():
    @dataclass(frozen=True)
    class Mine(Defense):
        def auc_bound(self, training):
            return 0.3

    with pytest.raises(InputError, match=r"auc_bound returned 0.3; expected None or an AUC from 1/2 to 1$"):
        Mine().auc_bound(context_of(Mine(), labels_of(4)).training)


def test_a_run_records_its_defense_s_bound_if_there_is_one(split_run):
    found = {name: split_run("clicks", name, **own).utility for name, own in (("none", {}), ("dp", {"epsilon": 1.0}))}
    told = {name: [row["value"] for row in rows if row["metric"] == "promise"] for name, rows in found.items()}
    assert told["none"] == []
    assert told["dp"] == pytest.approx([bound("dp", labels_of(20), 4, epsilon=1.0)])
