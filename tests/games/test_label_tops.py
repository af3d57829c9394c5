"""Defenses that change the label party's model or its loss: what each computes, and that gradients leak all the same.

A test on a training takes digits, one against the rest, in a model without a wide part.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest
import torch
from tests.games.contracts import near
from torch import nn

from cutlayer.core.seeds import generator
from cutlayer.games.base.protocol import Task
from cutlayer.games.base.snapshot import rebuilt
from cutlayer.games.split.defense import Context, Training
from cutlayer.games.split.defenses.dcor import squared_correlation
from cutlayer.games.split.defenses.mid import Bottleneck
from cutlayer.games.split.defenses.peloss import energy
from cutlayer.metrics.leakage import leak_auc
from cutlayer.plan import plugins
from cutlayer.stages.scores import measured

PROTOCOL = plugins.create("protocol", "split")
SETTINGS = {
    "protocol": "split", "dataset": "digits_vs_rest", "test_share": 0.2, "batch": 160, "epochs": 16, "rate": 0.005,
    "model": {"use": "wide_deep", "width": 16, "bottom_layers": 2, "top_layers": 2, "buckets": 40, "wide": False},
    "records": {"batches": 2}, "known": {"rows": 200, "per_class": 10, "attacked": 100, "watched": 300},
}  # fmt: skip


def defense(name, **parameters):
    return plugins.create("defense", name, parameters, "split")


def rows(count, d, *name):
    return torch.from_numpy(generator("tops", count, d, *name).standard_normal((count, d)).astype(np.float32))


def context_of(labels, classes=2, top=None):
    training = Training(
        labels=labels, classes=classes, outputs=classes, num_releases=3, generator=torch.Generator().manual_seed(0)
    )
    return Context(training, torch.arange(len(labels)), top=top)


class Sum(nn.Module):
    """A top model that adds up its inputs."""

    def forward(self, sent, x):
        return sent.sum(dim=1, keepdim=True)


@functools.cache
def trained(name, variant="", wide=False, extend=0, **parameters):
    """The outcome of a small training; defenses with one `variant` have the same draws."""
    table = plugins.create("dataset", "digits_vs_rest").load({})
    settings = SETTINGS | {"model": SETTINGS["model"] | {"wide": wide}, "feature_party": {"extend": extend}}
    return PROTOCOL.run(Task("digits", variant or name, 0, table, settings, {"": defense(name, **parameters)}))


def utility(outcome):
    return next(row["value"] for row in outcome.utility if row["metric"] == "test_auc")


def leak(outcome, **parameters):
    """The leak AUC, two-sided, of all gradients of the tracked records."""
    attack = plugins.create("attack", "repeated", parameters)
    seen = outcome.shared | outcome.transcripts[""]
    found = measured(attack, PROTOCOL, outcome.truth, "cpu", seen, ("digits", "any", "", "repeated", 0))
    auc = next(row["value"] for row in found if row["metric"] == "leak_auc")
    return max(auc, 1 - auc)


def of_embeddings(outcome):
    """The leak AUC of the trained bottom's embeddings along the difference of the known rows' class means."""
    seen = outcome.shared | outcome.transcripts[""]
    model, inputs, bottom = rebuilt(seen["architecture"], seen["snapshots"][-1])
    with torch.no_grad():
        h = bottom(model.encode(seen["features"], inputs))[1].numpy()
    means = [h[seen["known"][seen["known_labels"] == label]].mean(axis=0) for label in (0, 1)]
    return leak_auc(h[seen["attacked"]] @ (means[1] - means[0]), outcome.truth["attacked_labels"])


# dcor.


def test_the_distance_correlation_of_rows_with_themselves_is_one_whatever_their_place_turn_and_unit():
    h, y = rows(50, 4), rows(50, 3, "y")
    turn = torch.linalg.qr(rows(4, 4, "turn"))[0]
    assert near(squared_correlation(h, h), 1, rtol=1e-5)
    assert near(squared_correlation(h, 7 * h @ turn + 3), 1, rtol=1e-5)
    assert near(squared_correlation(h, y), squared_correlation(7 * h @ turn + 3, y), rtol=1e-3)


def test_the_squared_distance_correlation_of_independent_rows_falls_as_one_over_their_number():
    found = [
        np.mean([float(squared_correlation(rows(n, 1, i), rows(n, 1, i, "other"))) for i in range(20)])
        for n in (30, 480)
    ]
    assert found[1] < found[0] / 8


def test_what_tells_labels_by_its_distances_is_all_correlation_and_noise_beside_it_makes_it_little():
    labels = torch.arange(60) % 2
    h = labels[:, None].float() * torch.ones(3)
    own, found = defense("dcor", weight=1.0, log=False), []
    for scale in (0.0, 1.0, 4.0):
        sent = torch.cat([h, scale * rows(60, 32)], dim=1)
        found.append(float(own.penalty(sent, sent, context_of(labels))))
    assert near(found[0], 1, rtol=1e-5)
    assert found[0] > found[1] > found[2]
    assert near(defense("dcor", weight=2.0).penalty(h, h, context_of(labels)), 0, atol=1e-5)
    assert own.penalty(h, h, context_of(0 * labels)) is None


def test_embeddings_that_are_all_alike_have_nearly_no_correlation_and_no_gradient():
    alike, context = torch.ones(20, 3, requires_grad=True), context_of(torch.arange(20) % 2)
    for log in (True, False):
        found = defense("dcor", weight=1.0, log=log).penalty(alike, alike, context)
        assert found < 0.01
        assert near(torch.autograd.grad(found, alike)[0], 0 * alike.detach(), atol=0)


# peloss.


def test_the_potential_energy_is_that_of_all_pairs_of_a_class():
    h, labels = rows(30, 3), torch.arange(30) % 3 % 2
    pairs = [(i, j) for i in range(30) for j in range(30) if i != j and labels[i] == labels[j]]
    by_hand = sum(float(1 / (h[i] - h[j]).norm()) / int((labels == labels[i]).sum()) for i, j in pairs)
    assert near(energy(h, labels), by_hand, rtol=1e-4)
    assert near(energy(2 * h, labels), by_hand / 2, rtol=1e-4)
    assert near(energy(h + 5 * labels[:, None], labels), by_hand, rtol=1e-3)  # other classes do not repel


def test_rows_of_a_class_repel_each_other_along_the_line_between_them():
    h = torch.tensor([[0.0, 0.0], [1.0, 2.0]], requires_grad=True)
    (gradient,) = torch.autograd.grad(energy(h, torch.zeros(2)), [h])
    away = (h[0] - h[1]).detach()
    assert near(gradient[0], -gradient[1], atol=1e-6)
    assert near(-gradient[0] / gradient[0].norm(), away / away.norm(), atol=1e-5)


# mid.


def test_mid_s_penalty_is_the_divergence_of_its_codes_from_standard_normal_ones():
    h, labels = rows(20, 4).abs(), torch.arange(20) % 2
    context = context_of(labels)
    own = Bottleneck(Sum(), 4, context.training)
    own(h, {})
    mean, s = torch.relu(own.encoder(h)).chunk(2, dim=1)
    deviation = nn.functional.softplus(s - 0.5)
    assert deviation.min() >= nn.functional.softplus(torch.tensor(-0.5))
    codes, normal = torch.distributions.Normal(mean, deviation), torch.distributions.Normal(0.0, 1.0)
    expected = torch.distributions.kl_divergence(codes, normal).sum(dim=1).mean()
    found = defense("mid", weight=3.0).penalty(h, h, Context(context.training, context.rows, top=own))
    assert near(found, 3 * expected, rtol=1e-5)


def test_mid_draws_anew_at_each_use_and_at_the_test_too():
    own, h = Bottleneck(Sum(), 4, context_of(torch.zeros(20, dtype=torch.int64)).training).eval(), rows(20, 4)
    assert not torch.equal(own(h, {}), own(h, {}))


# fedpass.


@pytest.mark.parametrize(("keys", "mean", "deviation"), [("normal", -1, 1), ("uniform", 0, 1 / 3**0.5)])
def test_fedpass_scales_and_shifts_a_layer_by_functions_of_its_keys_alone(keys, mean, deviation):
    own, training = defense("fedpass", keys=keys), context_of(torch.arange(2)).training
    drawn = own.top(Sum(), 4000, training).keys
    assert near(drawn.mean(), mean, atol=5 / 8000**0.5)
    assert near(drawn.std(), deviation, atol=5 / 8000**0.5)
    h, top = rows(20, 4), own.top(Sum(), 4, training)
    assert "keys" not in dict(top.named_parameters())
    at = [torch.relu(top.layer(h)[:, j]) for j in range(4)]
    scale, shift = top.of_keys(top.layer(top.keys))
    by_hand = sum(torch.relu(scale[j] * top.layer(h)[:, j] + shift[j]) for j in range(len(at)))
    assert near(top(h, {})[:, 0], by_hand, rtol=1e-4, atol=1e-6)


# pslf.


@pytest.mark.parametrize("parameters", [{"epsilon": 0.5, "correction": "none"}, {"epsilon": 4.0, "correction": "loss"}])
def test_what_pslf_releases_is_bit_for_bit_what_randomized_response_does(parameters):
    response, own = (trained(name, "same", **parameters) for name in ("randomized_response", "pslf"))
    for name, array in response.transcripts[""].items():
        np.testing.assert_array_equal(array, own.transcripts[""][name])
    bounds = [[row["value"] for row in each.utility if row["metric"] == "promise"] for each in (response, own)]
    assert bounds[0] == bounds[1] != []


@pytest.mark.parametrize("classes", [2, 5])
def test_the_gradients_of_pslf_are_those_of_the_flipped_labels_themselves(classes):
    labels, own = torch.arange(200) % classes, defense("pslf", epsilon=0.5)
    training = context_of(labels, classes).training
    context = Context(training, torch.arange(200), own.begin(training))
    assert (context.state != labels).any()
    assert torch.equal(own.soft_labels(context), nn.functional.one_hot(context.state, classes).float())


def test_pslf_learns_true_labels_where_all_that_is_released_is_of_coin_flips():
    assert utility(trained("pslf", wide=True, epsilon=0.001)) > 0.9


# Trainings.


@pytest.mark.parametrize(
    ("name", "parameters"), [("none", {}), ("mid", {"weight": 0.0}), ("fedpass", {}), ("fedpass", {"keys": "uniform"})]
)
def test_a_row_s_gradients_of_all_epochs_tell_its_label_through_noise_and_secrets_in_the_top(name, parameters):
    assert leak(trained(name, **parameters)) > 0.95


def test_a_penalty_on_embeddings_hides_labels_there_alone_and_noise_beside_them_voids_it():
    strong = {"weight": 0.3}
    assert of_embeddings(trained("none")) > 0.9
    assert of_embeddings(trained("none", extend=32)) > 0.9
    assert abs(of_embeddings(trained("dcor", **strong)) - 0.5) < 0.25
    assert utility(trained("dcor", **strong)) < utility(trained("none")) - 0.2
    assert utility(trained("dcor", extend=32, **strong)) > 0.9
    assert of_embeddings(trained("dcor", extend=32, **strong)) > 0.9
