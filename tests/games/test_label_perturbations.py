"""cae, tpsl, compressed, proj_pert and soft_labels: what each keeps or bounds, and what a row's epochs add up to.

What holds on average is tested on averages, with a tolerance of SIGMAS standard errors.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats
from tests.games.test_label_defenses import PARAMS, batch, context_of, defense, many, sent
from torch.nn.functional import one_hot

from cutlayer.core.seeds import generator
from cutlayer.games.split.attacks import norm, off_axis, repeated
from cutlayer.games.split.defenses.compressed import kept, quantized
from cutlayer.metrics.leakage import chance_floor, leak_auc
from cutlayer.plan.sweeps import settings_of
from cutlayer.theory import accounting
from cutlayer.theory.marvell import composed_auc

SIGMAS = 5.0
LABELS = (torch.arange(2000) % 4 == 0).long()
ERROR = SIGMAS * chance_floor(500, 1500) / 1.96
TARGETS = [("cae", {"confusion": 0.0}), ("cae", {}), ("soft_labels", {"smoothing": 0.3})]


def two_sided(score):
    auc = leak_auc(score, LABELS.numpy())
    return max(auc, 1 - auc)


def followed(own, epochs, draw):
    """Rows of `repeated` from so many releases of p - t along one slope, and the number that is always p - t."""
    context, slope = context_of(own, LABELS, num_releases=epochs), draw.standard_normal(8)
    found = []
    for _ in range(epochs):
        error = 0.5 - own.soft_labels(context)[:, 1:].numpy().astype(float)
        plain = torch.from_numpy(error * slope).float()
        found.append(own.backward(plain, context).numpy())
    released = np.stack(found).astype(float)
    squares = np.square(released).sum(axis=2).mean(axis=1)
    steps = np.repeat(np.arange(epochs)[:, None], len(LABELS), axis=1)
    return repeated.relative(released / np.sqrt(squares)[:, None, None], steps, released.mean(axis=1), squares)


# cae and soft_labels: a target is a function of the class.


@pytest.mark.parametrize("classes", [2, 10])
def test_cae_decodes_what_it_encodes_and_no_class_is_encoded_as_itself(classes):
    labels, own = torch.arange(classes).repeat(2), defense("cae")
    context = context_of(own, labels, classes)
    target = own.soft_labels(context)
    decoded = own.to_class_probabilities(target.double().numpy(), context.state)
    assert decoded.argmax(axis=1).tolist() == labels.tolist()
    assert (target.argmax(dim=1) != labels).all()
    codes = target[:classes].double()
    apart = torch.cdist(codes, codes, p=1) + 2 * torch.eye(classes)
    assert apart.min() > 0.5
    assert torch.equal(codes, target[classes:].double())


def test_cae_s_codes_are_the_more_confused_the_more_entropy_weighs():
    codes = [context_of(defense("cae", confusion=weight), LABELS[:8]).state[0] for weight in (0.0, 2.0)]
    least, most = (float(code.max(dim=1).values.mean()) for code in codes)
    assert most < least


@pytest.mark.parametrize(("name", "parameters"), TARGETS)
def test_targets_that_are_functions_of_the_class_leak_it_as_without_a_defense(name, parameters):
    rows = followed(defense(name, **parameters), 1, generator("targets", name))
    assert two_sided(repeated.axis(rows)) == 1


@pytest.mark.parametrize("partners", [0, 1, 3, 9, 20])
def test_soft_labels_give_the_class_what_is_left_and_the_rest_to_its_partners(partners):
    labels, own = batch(classes=10, share=0.9)[1], defense("soft_labels", smoothing=0.6, partners=partners)
    context, count = context_of(own, labels, 10), min(partners or 9, 9)
    target = own.soft_labels(context)
    assert torch.equal(target, own.soft_labels(context))
    torch.testing.assert_close(target.gather(1, labels[:, None]), torch.full((len(labels), 1), 0.4))
    others = target[one_hot(labels, 10) == 0].reshape(-1, 9)
    torch.testing.assert_close(others.sort(dim=1).values[:, 9 - count :], torch.full((len(labels), count), 0.6 / count))
    assert ((others > 0).sum(dim=1) == count).all()
    if count < 9:
        assert len(others.gt(0).unique(dim=0)) > 1, "all rows have the same partners"


# tpsl.


@pytest.mark.parametrize("classes", [2, 5])
def test_tpsl_s_noise_is_laplace_of_the_scale_and_keeps_the_sum(classes):
    labels, own = torch.zeros(40_000, dtype=torch.int64), defense("tpsl", epsilon=0.5)
    noise = own.soft_labels(context_of(own, labels, classes)).double() - torch.eye(classes)[0]
    np.testing.assert_allclose(noise.sum(dim=1), 0, atol=1e-4)
    if classes == 2:
        assert stats.kstest(noise[:, 1].numpy(), stats.laplace(scale=2).cdf).pvalue > 1e-3
        return
    variance = 2 * 4.0**2 * (1 - 1 / classes)  # of a coordinate of scale 4, centered
    assert float(noise.square().mean()) == pytest.approx(variance, rel=SIGMAS * math.sqrt(5 / len(labels)))


def test_tpsl_s_bound_is_the_closed_form_of_one_release_and_grows_to_1():
    for epsilon in (0.25, 1.0, 4.0):
        exact = 1 - math.exp(-epsilon) * (2 + epsilon) / 4
        bound = accounting.laplace_releases_auc(1 / epsilon, 1)
        assert exact <= bound == pytest.approx(exact, abs=accounting.INTERVAL)
    bounds = [accounting.laplace_releases_auc(1.0, epochs) for epochs in (1, 3, 6, 10)]
    assert bounds == sorted(bounds)


@pytest.mark.parametrize(("epsilon", "epochs"), [(1.0, 6), (0.25, 10)])
def test_tpsl_s_bound_is_the_auc_of_the_sum_of_clipped_log_ratios(epsilon, epochs):
    draw = generator("tpsl", epsilon, epochs)
    label = np.arange(40_000) % 2
    seen = label + draw.laplace(scale=1 / epsilon, size=(epochs, len(label)))
    score = epsilon * (np.abs(seen) - np.abs(seen - 1)).sum(axis=0)
    error = SIGMAS * chance_floor(20_000, 20_000) / 1.96
    assert leak_auc(score, label) == pytest.approx(accounting.laplace_releases_auc(1 / epsilon, epochs), abs=error)


@pytest.mark.parametrize(("epsilon", "epochs"), [(1.0, 6), (0.25, 20)])
def test_averaging_the_epochs_of_tpsl_leaks_by_the_law_and_stays_below_the_bound(epsilon, epochs):
    own = defense("tpsl", epsilon=epsilon)
    found = two_sided(repeated.axis(followed(own, epochs, generator("law", epsilon))))
    assert found == pytest.approx(stats.norm.cdf(epsilon * math.sqrt(epochs) / 2), abs=ERROR)
    assert found <= own.auc_bound(context_of(own, LABELS, num_releases=epochs).training) + ERROR


def test_of_more_classes_tpsl_s_bound_holds_of_both_coordinates_that_two_labels_differ_in():
    draw, epsilon = generator("tpsl of five"), 1.0
    label = np.arange(40_000) % 2
    seen = np.eye(5)[label] + draw.laplace(scale=2 / epsilon, size=(40_000, 5))
    ratio = epsilon / 2 * (np.abs(seen[:, 0] - 1) - np.abs(seen[:, 0]) + np.abs(seen[:, 1]) - np.abs(seen[:, 1] - 1))
    own = defense("tpsl", epsilon=epsilon)
    bound = own.auc_bound(context_of(own, torch.zeros(4, dtype=torch.int64), 5, num_releases=1).training)
    error = SIGMAS * chance_floor(20_000, 20_000) / 1.96
    assert leak_auc(ratio, label) == pytest.approx(bound, abs=error)


# compressed.


@pytest.mark.parametrize("share", [0.75, 0.1, 0.005])
def test_the_share_that_is_kept_is_exact_the_largest_and_kept_again(share):
    gradient = batch(rows=100, d=32)[0]
    found = kept(gradient, share)
    assert int(found.count_nonzero()) == round(share * gradient.numel())
    assert gradient.abs()[found == 0].max() <= found.abs()[found != 0].min()
    assert torch.equal(found[found != 0], gradient[found != 0])
    assert torch.equal(kept(found, share), found)


@pytest.mark.parametrize("bins", [4, 24])
def test_quantized_entries_are_the_nearest_multiples_of_the_step(bins):
    gradient = batch()[0]
    found, step = quantized(gradient, bins, 0.01), 0.02 / bins
    np.testing.assert_allclose(found / step, (found / step).round(), atol=1e-4)
    assert (found - gradient).abs().max() <= step / 2 * (1 + 1e-5)
    assert torch.equal(quantized(found, bins, 0.01), found)
    twice = 2 * float(gradient.double().std(correction=0))
    assert torch.equal(quantized(gradient, bins, 0.0), quantized(gradient, bins, twice))


@pytest.mark.parametrize("name", [name for name, variant in PARAMS.items() if "bins" in str(variant)])
@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e4])
def test_the_bins_of_a_variant_are_coarse_whatever_the_unit_of_the_gradients(name, unit):
    gradient, labels = batch(rows=256, d=32)
    gradient *= unit
    for own in settings_of(PARAMS[name]).values():
        error = sent(defense(PARAMS[name]["use"], **own), gradient, labels) - gradient
        even = 4 / (own["bins"] * math.sqrt(12))  # of an error that is uniform over a step, in deviations
        assert error.square().mean().sqrt() / gradient.std() >= even / 2


@pytest.mark.parametrize("parameters", [{"keep": 0.05}, {"keep": 1.0, "bins": 4}])
def test_compressed_gradients_leak_as_without_a_defense(parameters):
    draw = generator("compressed")
    error = np.where(LABELS == 1, -0.8, 0.2)[:, None] * (0.5 + draw.random((2000, 1)))
    gradient = torch.from_numpy((error * draw.standard_normal((1, 32))).astype(np.float32))
    found = sent(defense("compressed", **parameters), gradient, LABELS)
    assert two_sided(norm.score(found.numpy())) > 0.95


# proj_pert.


def variances(own, gradient, labels):
    """Of negatives and positives, each coordinate's variance with the noise, and the squared distance of the means."""
    parts = [gradient[labels == label].double() for label in (0, 1)]
    gap = (parts[1].mean(dim=0) - parts[0].mean(dim=0)).square()
    noise = own._noise(gradient.double(), labels == 1)
    return [part.var(dim=0, correction=0) + added for part, added in zip(parts, noise, strict=True)], gap


def sum_kl_of(negatives, positives, gap):
    """Of each coordinate (d,): KL in both directions of normals of these variances."""
    ratio = negatives / positives
    return (ratio + 1 / ratio - 2) / 2 + gap / 2 * (1 / negatives + 1 / positives)


@pytest.mark.parametrize("form", ["evened", "projected"])
@pytest.mark.parametrize("sum_kl", [0.16, 4.0])
def test_proj_pert_leaves_each_coordinate_its_part_of_the_budget(form, sum_kl):
    gradient, labels = batch(rows=32)
    (negatives, positives), gap = variances(defense("proj_pert", form=form, sum_kl=sum_kl), gradient, labels)
    assert (sum_kl_of(negatives, positives, gap) <= sum_kl / gradient.shape[1] * (1 + 1e-9)).all()
    if form == "evened":
        torch.testing.assert_close(negatives, positives)


@pytest.mark.parametrize("form", ["iso", "evened", "projected"])
def test_proj_pert_s_noise_has_the_variances_of_the_class_and_no_bias(form):
    gradient, labels = batch(rows=16)
    own, draws = defense("proj_pert", form=form), 400
    noise, wanted = many(own, gradient, labels, draws) - gradient, own._noise(gradient.double(), labels == 1)
    for label, variance in enumerate(wanted):
        found = noise[:, labels == label].square().mean(dim=(0, 1))
        count = draws * int((labels == label).sum())
        torch.testing.assert_close(found, variance, rtol=SIGMAS * math.sqrt(2 / count), atol=1e-12)
        limit = SIGMAS * (variance / count).sqrt() + 1e-8  # rounding
        assert (noise[:, labels == label].mean(dim=(0, 1)).abs() <= limit).all()


def test_the_projected_noise_has_no_more_power_in_any_coordinate_than_the_even_one():
    gradient, labels = batch(rows=32)
    share, positive = float((labels == 1).double().mean()), labels == 1
    power = {}
    for form in ("evened", "projected"):
        negatives, positives = defense("proj_pert", form=form)._noise(gradient.double(), positive)
        power[form] = (1 - share) * negatives + share * positives
    assert (power["projected"] <= power["evened"] * (1 + 1e-9)).all()
    assert power["projected"].sum() < power["evened"].sum()


def test_proj_pert_s_isotropic_form_evens_out_no_class_that_is_wider_and_has_no_bound():
    gradient, labels = batch(rows=32)
    gradient[labels == 1] *= 100  # far beyond the variance that the budget asks for
    gradient[labels == 1] -= gradient[labels == 1].mean(dim=0)
    own = defense("proj_pert", form="iso", sum_kl=4.0)
    (negatives, positives), _ = variances(own, gradient, labels)
    assert (positives > 2 * negatives).any()
    training = context_of(own, labels).training
    assert own.auc_bound(training) is None
    assert defense("proj_pert", sum_kl=0.2).auc_bound(training) == composed_auc(0.2, 3)


@pytest.mark.parametrize("form", ["evened", "projected"])
def test_gaussian_gradients_of_independent_coordinates_stay_within_proj_pert_s_bound(form):
    own, epochs = defense("proj_pert", form=form, sum_kl=0.5), 6
    draw, context = generator("proj_pert", form), context_of(own, LABELS, num_releases=6)
    means, spreads = 0.3 * draw.standard_normal((2, 8)), draw.uniform(0.5, 2, (2, 8))
    own_labels, total = LABELS.numpy(), np.zeros(len(LABELS))
    for _ in range(epochs):
        plain = means[own_labels] + spreads[own_labels] * draw.standard_normal((len(LABELS), 8))
        seen = own.backward(torch.from_numpy(plain).float(), context).double().numpy()
        parts = [seen[own_labels == c] for c in (0, 1)]
        likely = [stats.norm.logpdf(seen, part.mean(axis=0), part.std(axis=0)).sum(axis=1) for part in parts]
        total += likely[1] - likely[0]
        assert two_sided(off_axis.score(seen)) <= composed_auc(0.5, 1) + ERROR
    assert two_sided(total) <= own.auc_bound(context.training) + ERROR
