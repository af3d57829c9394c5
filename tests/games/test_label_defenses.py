"""The label party's defenses: the contract of their hooks over every one in every setting, and what each guarantees.

What holds on average is tested on averages over many draws, with a tolerance of SIGMAS standard errors.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time

import numpy as np
import pytest
import torch
from scipy import stats
from tests.games.contracts import DIFFER, draws_with, near, over
from tests.params import params

from cutlayer.core.devices import seeded
from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.data.datasets.base import Table
from cutlayer.games.base.protocol import Task
from cutlayer.games.split.defense import Context, Training
from cutlayer.games.split.defenses import mixpro, secdt
from cutlayer.games.split.defenses._gaussians import estimated
from cutlayer.gradient_noise import optimal_noise, power_for
from cutlayer.metrics.leakage import chance_floor, leak_auc
from cutlayer.plan import plugins
from cutlayer.plan.sweeps import settings_of
from cutlayer.theory import accounting

PARAMS = params()["defenses"]
CONFIGURED = [(v["use"], p) for v in PARAMS.values() for p in settings_of(v).values()]
SIGMAS = 5.0
EXTREME = [
    ("iso", {"ratio": 0.0}),
    ("marvell", {"power": 0.01}),
    ("marvell", {"power": 100.0}),
    ("marvell", {"error": 0.45}),
    ("mixpro", {"alpha": 0.1, "phi": 1.0}),
    ("secdt", {"expansion": 1, "noise": 0.0, "normalize": "none"}),
    ("secdt", {"normalize": "min"}),
    ("secdt", {"normalize": "max"}),
]
PLAIN = [(n, {}) for n in plugins.names("defense") if n != "marvell"]  # which has no default
SETTINGS = [
    (name, own)
    for name, own in PLAIN + CONFIGURED + EXTREME
    if "split" in plugins.method("defense", name).constants["games"]
]
every_setting = over(SETTINGS)


def defense(name, **parameters):
    return plugins.create("defense", name, parameters, "split")


def classes_for(name):
    return plugins.method("defense", name).constants["classes"] or {2, 5}


def batch(rows=64, d=8, classes=2, share=0.25, seed=0):
    """Gradients (B, d) of two or more classes, of different means and spreads, and the labels."""
    draw = generator("test_label_defenses", rows, d, classes, seed)
    labels = (draw.random(rows) < share) * draw.integers(1, classes, rows)
    means = draw.standard_normal((classes, d))
    spread = 0.1 + 0.2 * labels[:, None]
    gradient = 0.01 * (means[labels] + spread * draw.standard_normal((rows, d)))
    return torch.from_numpy(gradient.astype(np.float32)), torch.from_numpy(labels)


def context_of(own, labels, classes=2, seed=0, num_releases=3):
    """A context for a batch that is the whole training set."""
    draw = torch.Generator().manual_seed(seed)
    training = Training(
        labels=labels, classes=classes, outputs=own.outputs(classes), num_releases=num_releases, generator=draw
    )
    return Context(training, torch.arange(len(labels)), own.begin(training))


def sent(own, gradient, labels, classes=2, seed=0):
    return own.backward(gradient, context_of(own, labels, classes, seed))


def many(own, gradient, labels, draws):
    """What is sent for the same gradients again and again: (draws, B, d)."""
    context = context_of(own, labels)
    return torch.stack([own.backward(gradient, context) for _ in range(draws)]).double()


def odd_batches():
    gradient, labels = batch()
    yield "all zero", torch.zeros_like(gradient), labels
    yield "rows of zero", gradient * (torch.arange(64) % 3 > 0)[:, None], labels
    yield "only negatives", gradient, torch.zeros_like(labels)
    yield "only positives", gradient, torch.ones_like(labels)
    yield "one positive", gradient, (torch.arange(64) == 5).long()
    yield "one row", gradient[:1], labels[:1]
    yield "one dimension", gradient[:, :1].clone(), labels
    yield "all the same", gradient[:1].expand(64, -1).clone(), labels
    yield "tiny", gradient * 1e-30, labels
    yield "below single's squares", gradient * 1e-38, labels
    yield "huge", gradient * 1e15, labels
    yield "one huge row", torch.cat([gradient[:63] * 1e-20, gradient[63:] * 1e15]), labels
    yield "opposite", gradient[0] * (1 - 2.0 * labels[:, None]), labels


# The contract.

A_COPY = "expected a new tensor"


@contextlib.contextmanager
def of_batch(kind):
    """An error within says of what."""
    try:
        yield
    except InputError as error:
        if "not finite" not in str(error):
            raise
        raise AssertionError(f"{error} (of gradients that are {kind})") from error


@every_setting
def test_what_is_sent_is_a_finite_gradient_for_each_example(name, parameters):
    for classes in classes_for(name):
        gradient, labels = batch(classes=classes)
        before = gradient.clone(), labels.clone()
        own = defense(name, **parameters)
        context = context_of(own, labels, classes)
        assert torch.equal(labels, before[1]), f"begin changed the labels it was given; {A_COPY}"
        own.soft_labels(context)
        assert torch.equal(labels, before[1]), f"target changed the labels it was given; {A_COPY}"
        found = own.backward(gradient, context)
        assert found.shape == gradient.shape
        assert found.dtype == torch.float32
        assert not found.requires_grad, "backward returned a tensor that requires a gradient; detach it"
        assert found.isfinite().all(), "backward returned a number that is not finite"
        assert torch.equal(gradient, before[0]), f"backward changed the gradient it was given; {A_COPY}"
        assert torch.equal(labels, before[1]), f"backward changed the labels it was given; {A_COPY}"


@every_setting
def test_odd_batches_are_sent_finite_too(name, parameters):
    own = defense(name, **parameters)
    for kind, gradient, labels in odd_batches():
        with of_batch(kind):
            found = sent(own, gradient, labels)
        assert found.shape == gradient.shape, kind
        assert found.dtype == torch.float32, kind
        assert found.isfinite().all(), f"backward returned a number that is not finite for gradients that are {kind}"


@every_setting
def test_the_generator_decides_all_that_is_random(name, parameters):
    for classes in classes_for(name):
        gradient, labels = batch(classes=classes)
        own, runs = defense(name, **parameters), []
        for _ in range(2):
            torch.manual_seed(len(runs))  # the global one must not matter
            with draws_with("context"):
                context = context_of(own, labels.clone(), classes)
                runs.append((own.soft_labels(context), own.backward(gradient, context), own.soft_labels(context)))
        for hook, first, second in zip(("soft_labels", "backward", "soft_labels"), *runs, strict=True):
            assert torch.equal(first, second), f"{hook}: {DIFFER.format('trainings', 'the context')}"


@every_setting
def test_targets_are_weights_on_the_outputs(name, parameters):
    for classes in classes_for(name):
        own, (_, labels) = defense(name, **parameters), batch(classes=classes)
        target = own.soft_labels(context_of(own, labels, classes))
        assert target.shape == (len(labels), own.outputs(classes))
        assert target.dtype == torch.float32
        if getattr(own, "noise_form", "") == "raw":  # which has any sign and any sum
            continue
        least, total = target.min().item(), 1 + getattr(own, "noise", 0.0)
        assert least >= 0 or getattr(own, "correction", "") == "loss" or name == "tpsl", (
            f"soft_labels returned a weight of {least:g}; expected 0 at least"
        )
        summed = target.sum(dim=1)
        assert near(summed, total, 1.3e-6, 1e-5), (
            f"soft_labels returned weights that add up to {summed[0]:g}; expected {total:g}"
        )


@every_setting
def test_decoded_scores_are_probabilities_of_the_classes(name, parameters):
    for classes in classes_for(name):
        own, (_, labels) = defense(name, **parameters), batch(classes=classes)
        drawn = generator("decode").dirichlet(np.ones(own.outputs(classes)), 50)
        before = drawn.copy()
        scores = own.to_class_probabilities(drawn, context_of(own, labels, classes).state)
        assert scores.shape == (50, classes), (
            f"to_class_probabilities returned an array of shape {scores.shape}; expected {(50, classes)}"
        )
        assert near(scores.sum(axis=1), 1, atol=1e-12), "to_class_probabilities returned rows that do not add up to 1"
        assert scores.min() >= 0, f"to_class_probabilities returned {scores.min():g}; expected 0 at least"
        assert np.array_equal(drawn, before), f"to_class_probabilities changed the probabilities it was given; {A_COPY}"


class Head(torch.nn.Module):
    """A top model of one layer, with no use for the label party's features."""

    def __init__(self, width, outputs):
        super().__init__()
        self.last = torch.nn.Linear(width, 1 if outputs == 2 else outputs)

    def forward(self, hidden, x):
        return self.last(hidden)


def topped(own, labels, classes, width):
    """The context of a batch with the label party's model."""
    context = context_of(own, labels, classes)
    with seeded(1):
        head = own.top(Head(width, context.training.outputs), width, context.training)
    return dataclasses.replace(context, top=head)


@every_setting
def test_the_top_has_the_outputs_of_the_setup_s_and_its_penalty_is_a_finite_number(name, parameters):
    """Whatever is sent: also where the label party's loss has no gradient, or all embeddings are alike."""
    for classes in classes_for(name):
        own, (_, labels) = defense(name, **parameters), batch(classes=classes)
        embeddings = torch.rand(64, 8, generator=torch.Generator().manual_seed(0))
        for sent, given in ((embeddings, labels), (embeddings[:1].expand(64, -1), labels), (embeddings, 0 * labels)):
            context, sent = topped(own, given, classes, 8), sent.clone().requires_grad_()
            with draws_with("context"):
                logits = context.top(sent, {})
                penalty = own.penalty(sent, logits, context)
            assert logits.shape == (64, 1 if own.outputs(classes) == 2 else own.outputs(classes))
            assert context.top.eval()(sent, {}).shape == logits.shape
            (gradient,) = torch.autograd.grad(logits.sum() + (0 if penalty is None else penalty), [sent])
            assert gradient.isfinite().all(), "the gradient of top and penalty at the cut is not finite"


# iso and max_norm.


@pytest.mark.parametrize("ratio", [0.25, 2.0])
def test_iso_s_noise_has_the_ratio_of_the_longest_squared_norm_and_no_bias(ratio):
    gradient, labels = batch()
    noise = many(defense("iso", ratio=ratio), gradient, labels, 2000) - gradient
    meant = ratio * gradient.double().square().sum(dim=1).max() / gradient.shape[1]  # each coordinate's variance
    error = SIGMAS * math.sqrt(2 / noise.numel())
    assert noise.square().mean() == pytest.approx(float(meant), rel=error)
    assert noise.square().mean(dim=(0, 1)) / meant == pytest.approx(1, rel=error * math.sqrt(gradient.shape[1]))
    assert noise.mean(dim=0).abs().max() < SIGMAS * math.sqrt(meant / len(noise))


def test_max_norm_gives_all_gradients_the_expected_squared_norm_of_the_longest_and_no_bias():
    gradient, labels = batch(rows=16)
    norms = gradient.double().norm(dim=1)
    sigma = (norms.max().square() / norms.square() - 1).sqrt()
    found = many(defense("max_norm"), gradient, labels, 4000)
    squares = found.square().sum(dim=2)
    spread = norms.square() * (4 * sigma**2 + 2 * sigma**4).sqrt() / math.sqrt(len(found))
    assert ((squares.mean(dim=0) - norms.max().square()).abs() <= SIGMAS * spread + 1e-6 * norms.max() ** 2).all()
    bias = (found.mean(dim=0) - gradient).norm(dim=1)
    assert (bias <= SIGMAS * norms * sigma / math.sqrt(len(found)) + 1e-6 * norms.max()).all()


def test_max_norm_changes_no_line_and_not_the_longest_gradient():
    gradient, labels = batch()
    gradient[3] = 0
    found = sent(defense("max_norm"), gradient, labels)
    cosine = torch.nn.functional.cosine_similarity(found, gradient, dim=1).abs()
    torch.testing.assert_close(cosine, (torch.arange(64) != 3).float())
    longest = gradient.norm(dim=1).argmax()
    assert torch.equal(found[longest], gradient[longest])
    assert not found[3].any()


# marvell.


def modeled(gradient, labels):
    """u, v, dim, gap, p of the paper and the unit vector along the means' difference, by numpy in double precision."""
    values, positive = gradient.double().numpy(), labels.numpy() == 1
    u, v = values[~positive].var(axis=0).mean(), values[positive].var(axis=0).mean()
    difference = values[positive].mean(axis=0) - values[~positive].mean(axis=0)
    gap = difference @ difference
    return (u, v, values.shape[1], gap, positive.mean()), difference / np.sqrt(gap)


MARVELLS = [{"power": 0.5}, {"power": 8.0}, {"sum_kl": 0.1}, {"sum_kl": 2.0}, {"error": 0.2}]


def planned(own, problem):
    if own._wanted:
        return optimal_noise(*problem, power_for(*problem, own._wanted))
    return optimal_noise(*problem, own.power * problem[3])


@pytest.mark.parametrize("unit", [1.0, 1e-30, 1e20])
def test_marvell_estimates_the_most_likely_gaussians(unit):
    gradient, labels = batch()
    gradient = gradient * unit
    (u, v, _, gap, p), direction = modeled(gradient, labels)
    found = estimated(gradient, torch.stack((labels != 1, labels == 1)).float())
    numbers = found.negative, found.positive, found.gap, found.share
    assert numbers == pytest.approx((u, v, gap, p), rel=1e-5, abs=0)
    np.testing.assert_allclose(found.difference.double().numpy() / np.sqrt(gap), direction, atol=1e-5)


def test_marvell_refuses_gradients_that_are_no_numbers():
    gradient, labels = batch()
    gradient[3, 2] = float("nan")
    with pytest.raises(InputError, match="= nan; a finite number"):
        sent(defense("marvell", power=1.0), gradient, labels)


@pytest.mark.parametrize("parameters", MARVELLS)
def test_marvell_s_noise_has_the_planned_covariance_and_power_and_no_bias(parameters):
    gradient, labels = batch()
    own, (problem, direction) = defense("marvell", **parameters), modeled(gradient, labels)
    plan, p, draws = planned(own, problem), problem[4], 3000
    noise = (many(own, gradient, labels, draws) - gradient).numpy()
    along = noise @ direction
    across = noise - along[:, :, None] * direction
    positive, others = labels.numpy() == 1, gradient.shape[1] - 1
    for rows, first, rest in (
        (~positive, plan.negative_along, plan.negative_across),
        (positive, plan.positive_along, plan.positive_across),
    ):
        error = SIGMAS * math.sqrt(2 / (draws * rows.sum()))
        rounding = float(1e-12 * gradient.square().max())  # single precision, squared
        assert np.square(along[:, rows]).mean() == pytest.approx(first, rel=error, abs=rounding)
        assert np.square(across[:, rows]).sum(axis=2).mean() == pytest.approx(others * rest, rel=error, abs=rounding)
    power = np.square(noise).sum(axis=2).mean()
    planned_power = p * (plan.positive_along + others * plan.positive_across)
    planned_power += (1 - p) * (plan.negative_along + others * plan.negative_across)
    assert power == pytest.approx(planned_power, rel=SIGMAS * math.sqrt(2 / draws / len(labels)))
    if own.power:
        assert planned_power == pytest.approx(own.power * problem[3], rel=1e-9)
    limit = SIGMAS * math.sqrt(max(plan[:4]) / draws)
    assert np.abs(noise.mean(axis=0)).max() < limit


@pytest.mark.parametrize("parameters", [{"sum_kl": 0.1}, {"sum_kl": 2.0}, {"error": 0.1}, {"error": 0.4}])
def test_marvell_reaches_its_target_with_the_least_power(parameters):
    own, (problem, _) = defense("marvell", **parameters), modeled(*batch())
    plan, goal = planned(own, problem), parameters.get("sum_kl") or (2 - 4 * parameters["error"]) ** 2
    assert optimal_noise(*problem, 0.0).sum_kl > goal
    assert plan.sum_kl == pytest.approx(goal, rel=1e-9)
    assert plan.sum_kl <= goal


@pytest.mark.parametrize("error", [0.1, 0.2, 0.3, 0.4])
def test_no_adversary_errs_less_than_marvell_s_bound(error):
    """Pinsker: the likelihood ratio's mean of misses and false alarms on gradients that are Gaussian as modeled."""
    (u, v, d, gap, p), draw = modeled(*batch())[0], generator("bound", error)
    plan = planned(defense("marvell", error=error), (u, v, d, gap, p))
    scales = np.full((2, d), 0.0)
    scales[0], scales[1] = np.sqrt(u + plan.negative_across), np.sqrt(v + plan.positive_across)
    scales[:, 0] = np.sqrt(u + plan.negative_along), np.sqrt(v + plan.positive_along)
    means, n = np.array([[0.0] * d, [np.sqrt(gap)] + [0.0] * (d - 1)]), 20000
    wrong = []
    for label in (0, 1):
        drawn = means[label] + scales[label] * draw.standard_normal((n, d))
        score = [stats.norm.logpdf(drawn, means[c], scales[c]).sum(axis=1) for c in (0, 1)]
        wrong.append(np.mean((score[1] > score[0]) != label))
    assert np.mean(wrong) >= error - SIGMAS * 0.5 / math.sqrt(2 * n)


def test_marvell_treats_the_classes_alike():
    """With labels swapped the same numbers give the same noise, but for the sign of what is along the difference."""
    gradient, labels = batch()
    own, (problem, direction) = defense("marvell", power=2.0), modeled(gradient, labels)
    assert planned(own, problem).negative_across > 0
    noise = (sent(own, gradient, labels) - gradient).double().numpy()
    other = (sent(own, gradient, 1 - labels) - gradient).double().numpy()
    only_along, atol = labels.numpy() == 1, 1e-6 * np.abs(noise).max()
    np.testing.assert_allclose(noise[only_along] @ direction, -(other[only_along] @ direction), atol=atol)
    project = np.eye(len(direction)) - np.outer(direction, direction)
    np.testing.assert_allclose(noise @ project, other @ project, atol=atol)


@pytest.mark.parametrize("parameters", MARVELLS)
def test_the_larger_noise_across_is_both_classes_and_leaves_what_is_along(parameters):
    gradient, labels = batch()
    model = estimated(gradient, torch.stack((labels != 1, labels == 1)).float())
    own, other = (
        defense("marvell", across=across, **parameters)._noise(gradient, model) for across in ("optimal", "larger")
    )
    assert other.negative_across == other.positive_across == max(own.negative_across, own.positive_across) > 0
    assert (other.negative_along, other.positive_along) == (own.negative_along, own.positive_along)


def test_marvell_has_no_bound_where_both_classes_get_the_larger_noise_across():
    training = Training(labels=batch()[1], classes=2, outputs=2, num_releases=3, generator=torch.Generator())
    assert defense("marvell", sum_kl=0.1).auc_bound(training) > 0.5
    assert defense("marvell", sum_kl=0.1, across="larger").auc_bound(training) is None


def test_marvell_s_error_is_a_name_for_a_target():
    gradient, labels = batch()
    by_error, by_target = defense("marvell", error=0.25), defense("marvell", sum_kl=1.0)
    assert torch.equal(sent(by_error, gradient, labels), sent(by_target, gradient, labels))


def test_marvell_adds_nothing_where_the_target_is_reached_or_nothing_differs():
    gradient, labels = batch()
    beyond = optimal_noise(*modeled(gradient, labels)[0], 0.0).sum_kl * 1.01
    assert torch.equal(sent(defense("marvell", sum_kl=beyond), gradient, labels), gradient)
    same = torch.full_like(gradient, 0.5)
    for parameters in MARVELLS:
        assert torch.equal(sent(defense("marvell", **parameters), same, labels), same)


@pytest.mark.parametrize("parameters", MARVELLS)
def test_marvell_makes_the_spreads_of_classes_with_one_mean_more_alike(parameters):
    """Power is relative to the mean squared gradient then, as the means have no distance."""
    labels, signs = torch.arange(64) % 2, 1 - 2.0 * (torch.arange(64) // 2 % 2)
    gradient = ((0.25 + 1.75 * labels) * signs)[:, None].expand(64, 4).clone()
    own, problem = defense("marvell", **parameters), (0.0625, 4.0, 4, 0.0, 0.5)
    size = 4 * (0.0625 + 4.0) / 2
    power = power_for(*problem, own._wanted) if own._wanted else own.power * size
    plan = optimal_noise(*problem, power)
    noise = many(own, gradient, labels, 1000) - gradient
    assert not noise[:, labels == 1].any()
    error = SIGMAS * math.sqrt(2 / (1000 * 32 * 4))
    assert float(noise[:, labels == 0].square().mean()) == pytest.approx(plan.negative_along, rel=error)
    assert plan.negative_along == plan.negative_across > 0.3


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("parameters", MARVELLS)
def test_marvell_sends_no_batch_of_one_class_as_it_is(parameters, label):
    gradient, labels = batch(rows=16)
    own, size = defense("marvell", **parameters), float(gradient.double().square().sum(dim=1).mean())
    found = many(own, gradient, torch.full_like(labels, label), 1500)
    meant = size / own._wanted if own._wanted else own.power * size / gradient.shape[1]
    noise = found - gradient
    assert float(noise.square().mean()) == pytest.approx(meant, rel=SIGMAS * math.sqrt(2 / noise.numel()))


@pytest.mark.parametrize("wrong", [{}, {"power": 0.0}, {"power": 1.0, "sum_kl": 0.1}, {"sum_kl": 1.0, "error": 0.1}])
def test_marvell_takes_exactly_one_parameter(wrong):
    with pytest.raises(InputError, match=r"^defense\.marvell: .*; expected exactly one of power, sum_kl, error$"):
        defense("marvell", **wrong)


# dp.


def log_delta(epsilon, mu):
    """log delta of the Gaussian mechanism with sensitivity / sigma = mu: Balle and Wang 2018, theorem 8."""
    first, second = stats.norm.logcdf(mu / 2 - epsilon / mu), stats.norm.logcdf(-mu / 2 - epsilon / mu)
    return first + np.log1p(-np.exp(epsilon + second - first))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-5, 1e-9])
@pytest.mark.parametrize("num_releases", [1, 5, 100])
def test_dp_s_noise_is_the_least_that_the_closed_form_allows(epsilon, delta, num_releases):
    """Gaussian mechanisms compose to one of sqrt(num_releases) times the sensitivity."""
    start = time.process_time()
    sigma = accounting.gaussian_deviation.__wrapped__(epsilon, delta, num_releases, 0.2)
    assert time.process_time() - start < 1
    mu = math.sqrt(num_releases) * 0.2 / sigma
    assert log_delta(epsilon, mu) <= math.log(delta) + 1e-3
    assert log_delta(epsilon, mu * 1.001) > math.log(delta)


def test_dp_clips_then_adds_noise_for_twice_the_clip():
    gradient, labels = batch()
    clip = float(gradient.norm(dim=1).median())
    own = defense("dp", epsilon=100.0, clip=clip)
    found, sigma = many(own, gradient, labels, 3000), accounting.gaussian_deviation(100.0, 1e-5, 3, 2 * clip)
    clipped = gradient * (clip / gradient.norm(dim=1)).clamp(max=1)[:, None]
    assert 0 < (gradient.norm(dim=1) > clip).sum() < 64
    noise = found - clipped
    assert noise.mean(dim=0).abs().max() < SIGMAS * sigma / math.sqrt(len(found))
    assert float(noise.square().mean()) == pytest.approx(sigma**2, rel=SIGMAS * math.sqrt(2 / noise.numel()))


def test_dp_s_noise_grows_with_the_number_of_releases():
    labels = torch.zeros(4, dtype=torch.int64)
    states = [context_of(defense("dp"), labels, num_releases=n).state for n in (1, 4, 16)]
    assert states == pytest.approx([states[0], 2 * states[0], 4 * states[0]], rel=1e-3)


# mixpro.


def test_mixpro_mixes_each_gradient_with_one_of_its_batch():
    """Unit vectors show the shares: l at the example's own place, 1 - l at its partner's."""
    rows, own = 200, defense("mixpro", alpha=0.5, phi=-1.0)
    found = sent(own, torch.eye(rows), torch.zeros(rows, dtype=torch.int64)).double()
    assert ((found > 0).sum(dim=1) <= 2).all()
    np.testing.assert_allclose(found.sum(dim=1), 1, atol=1e-6)
    shares = found.diagonal()[found.diagonal() < 1].numpy()
    assert stats.kstest(shares, stats.beta(0.5, 0.5).cdf).pvalue > 1e-3
    partners = found.fill_diagonal_(0).argmax(dim=1)
    assert len(set(partners.tolist())) > rows / 2


@pytest.mark.parametrize("phi", [-0.5, 0.0, 0.5, 0.9, 1.0])
def test_mixpro_turns_to_the_goal_by_the_smallest_angle_and_keeps_the_length(phi):
    rows, mean = batch(rows=200)[0].double(), torch.randn(8, generator=torch.Generator().manual_seed(1)).double()
    found = mixpro._turned(rows, mean, phi)
    cosine = torch.nn.functional.cosine_similarity
    before, after = cosine(rows, mean[None]), cosine(found, mean[None])
    torch.testing.assert_close(after, before.clamp_min(phi), atol=1e-12, rtol=0)
    torch.testing.assert_close(found.norm(dim=1), rows.norm(dim=1))
    assert torch.equal(found[before > phi], rows[before > phi])
    angle = (before.acos() - math.acos(phi)).clamp_min(0)
    torch.testing.assert_close(cosine(found, rows).clamp(-1, 1).acos(), angle, atol=1e-6, rtol=0)


def test_mixpro_where_no_plane_or_no_mean_says_where_to():
    mean = torch.tensor([0.0, 3.0]).double()
    rows = torch.tensor([[0.0, -2.0], [0.0, 0.0]]).double()
    assert mixpro._turned(rows, mean, 0.5).tolist() == [[0.0, 2.0], [0.0, 0.0]]
    assert torch.equal(mixpro._turned(rows, 0 * mean, 0.5), rows)


def test_mixpro_sends_nothing_beyond_its_goal():
    gradient, labels = batch()
    found = sent(defense("mixpro", phi=0.7), gradient, labels)
    cosine = torch.nn.functional.cosine_similarity(found, gradient.mean(dim=0)[None])
    assert cosine.min() == pytest.approx(0.7, abs=1e-5)


# secdt.


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("expansion", [2, 10])
def test_secdt_deals_the_fake_classes_into_pools_and_each_example_keeps_one_of_its_own(classes, expansion):
    labels = batch(rows=4000, classes=classes, share=0.7)[1]
    own = defense("secdt", expansion=expansion, noise=0.0)
    context = context_of(own, labels, classes)
    pools = torch.stack(context.state.pools)
    assert pools.shape == (classes, expansion)
    assert sorted(pools.flatten().tolist()) == list(range(classes * expansion))
    assert pools.flatten().tolist() != list(range(classes * expansion))
    first, second = own.soft_labels(context), own.soft_labels(context)
    assert torch.equal(first, second)
    fake = first.argmax(dim=1)
    assert torch.equal(first, torch.nn.functional.one_hot(fake, classes * expansion).float())
    for label in range(classes):
        members = fake[labels == label]
        counts = [int((members == one).sum()) for one in pools[label]]
        assert sum(counts) == len(members)
        assert stats.chisquare(counts).pvalue > 1e-4


def test_secdt_draws_other_pools_and_fakes_for_another_training():
    labels, own = batch()[1], defense("secdt")
    one, other = context_of(own, labels, seed=0).state, context_of(own, labels, seed=1).state
    assert not torch.equal(torch.stack(one.pools), torch.stack(other.pools))
    assert not torch.equal(one.labels, other.labels)


def test_redrawn_fakes_are_members_of_the_class_s_pool_and_change_with_every_batch():
    labels = batch(rows=4000, classes=5, share=0.7)[1]
    own = defense("secdt", redraw=True, noise=0.0)
    context = context_of(own, labels, 5)
    first, second = (own.soft_labels(context).argmax(dim=1) for _ in range(2))
    assert torch.mean((first == second).double()) == pytest.approx(0.1, abs=SIGMAS * math.sqrt(0.09 / 4000))
    for label in range(5):
        assert set(first[labels == label].tolist()) == set(context.state.pools[label].tolist())


def test_proportional_pools_give_all_fake_classes_about_one_size():
    labels = (torch.arange(1000) < 100).long()
    own = defense("secdt", pools="proportional", noise=0.0)
    context = context_of(own, labels)
    assert [len(pool) for pool in context.state.pools] == [18, 2]
    assert sorted(torch.cat(context.state.pools).tolist()) == list(range(20))
    fake = own.soft_labels(context).argmax(dim=1)
    for label in (0, 1):
        counts = [int((fake[labels == label] == one).sum()) for one in context.state.pools[label]]
        assert sum(counts) == (labels == label).sum()
        assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize(
    ("counts", "total", "found"),
    [
        ([900, 100], 20, [18, 2]),
        ([1, 1], 10, [5, 5]),
        ([999, 0, 1], 6, [4, 1, 1]),
        ([1, 1, 1], 7, [3, 2, 2]),
        ([903, 97], 20, [18, 2]),
        ([776, 224], 20, [16, 4]),
        ([996, 2, 2], 4, [2, 1, 1]),
    ],
)
def test_shares_are_whole_numbers_in_proportion_and_at_least_one(counts, total, found):
    assert secdt.shares(counts, total) == found


@pytest.mark.parametrize("expansion", [1, 10])
def test_secdt_adds_fresh_softmax_noise_to_the_target(expansion):
    labels = batch(rows=4000)[1]
    own = defense("secdt", expansion=expansion, noise=0.5)
    context, count = context_of(own, labels), 2 * expansion
    fake = torch.nn.functional.one_hot(context.state.labels, count)
    first, second = own.soft_labels(context) - fake, own.soft_labels(context) - fake
    assert (first > 0).all()
    torch.testing.assert_close(first.sum(dim=1), torch.full((4000,), 0.5))
    assert not torch.equal(first, second)
    odds = (first[:, 0] / first[:, 1]).log().numpy()  # omega_0 - omega_1
    assert stats.kstest(odds, stats.norm(0, math.sqrt(2)).cdf).pvalue > 1e-3
    assert stats.spearmanr(first[:, 0], labels).pvalue > 1e-3


@pytest.mark.parametrize("expansion", [1, 10])
def test_secdt_adds_fresh_normal_noise_to_the_target_as_equation_16_has_it(expansion):
    labels = batch(rows=4000)[1]
    own = defense("secdt", expansion=expansion, noise=0.5, noise_form="raw")
    context, count = context_of(own, labels), 2 * expansion
    fake = torch.nn.functional.one_hot(context.state.labels, count)
    first, second = own.soft_labels(context) - fake, own.soft_labels(context) - fake
    assert not torch.equal(first, second)
    assert stats.kstest(first.flatten().numpy(), stats.norm(0, 0.5).cdf).pvalue > 1e-3
    assert stats.kstest(first.sum(dim=1).numpy(), stats.norm(0, 0.5 * math.sqrt(count)).cdf).pvalue > 1e-3
    assert stats.spearmanr(first[:, 0], labels).pvalue > 1e-3


@pytest.mark.parametrize("form", ["softmax", "raw"])
def test_secdt_s_noise_that_is_drawn_once_is_a_row_s_own_in_every_batch(form):
    labels = batch()[1]
    own = defense("secdt", noise_form=form, noise_once=True)
    context = context_of(own, labels)
    whole = own.soft_labels(context)
    assert torch.equal(own.soft_labels(context), whole)
    some = torch.tensor([5, 3, 60])
    assert torch.equal(own.soft_labels(Context(context.training, some, context.state)), whole[some])
    assert len(whole.unique(dim=0)) == len(labels)


def test_secdt_s_map_to_classes_changes_nothing_that_is_trained_towards_or_sent():
    """What the paper says of it, that it does not make attacks stronger, holds by construction."""
    gradient, labels = batch()
    contexts = [
        (own, context_of(own, labels)) for own in (defense("secdt", decoding=how) for how in ("weighted", "maximum"))
    ]
    (first, again), (returned, again_returned) = (
        [hook(own, context) for own, context in contexts]
        for hook in (
            lambda own, context: own.soft_labels(context),
            lambda own, context: own.backward(gradient, context),
        )
    )
    assert torch.equal(first, again)
    assert torch.equal(returned, again_returned)


def test_secdt_without_transformation_has_the_classes_and_their_labels():
    labels = batch(classes=5)[1]
    own = defense("secdt", expansion=1, noise=0.0)
    context = context_of(own, labels, 5)
    assert torch.equal(own.soft_labels(context), defense("none").soft_labels(context))
    drawn = generator("plain").dirichlet(np.ones(5), 20)
    np.testing.assert_array_equal(own.to_class_probabilities(drawn, context.state), drawn)
    outputs = [defense("secdt", expansion=n).outputs(k) for n in (1, 2, 10) for k in (2, 3)]
    assert outputs == [2, 3, 4, 6, 20, 30]


@pytest.mark.parametrize("form", ["softmax", "raw"])
@pytest.mark.parametrize("to", ["mean", "min", "max"])
def test_secdt_gives_all_gradients_one_norm_and_turns_none(to, form):
    gradient, labels = batch()
    gradient = 100 * gradient
    own = defense("secdt", normalize=to, noise_form=form)
    found, norms = sent(own, gradient, labels), gradient.norm(dim=1)
    torch.testing.assert_close(found.norm(dim=1), getattr(norms, to)().expand(64), rtol=1e-5, atol=0)
    torch.testing.assert_close(torch.nn.functional.cosine_similarity(found, gradient), torch.ones(64))


def test_secdt_leaves_a_gradient_that_is_0_and_counts_it():
    gradient, labels = batch()
    gradient[5] = 0
    found, norms = sent(defense("secdt"), gradient, labels), gradient.norm(dim=1)
    assert not found[5].any()
    torch.testing.assert_close(found.norm(dim=1), norms.mean() * (torch.arange(64) != 5), rtol=1e-5, atol=0)
    assert not sent(defense("secdt", normalize="min"), gradient, labels).any()


def test_secdt_without_normalization_sends_the_gradients_as_they_are():
    gradient, labels = batch()
    assert torch.equal(sent(defense("secdt", normalize="none"), gradient, labels), gradient)


def norm_auc(gradients, labels):
    return leak_auc(np.linalg.norm(np.asarray(gradients, dtype=float), axis=1), np.asarray(labels))


def test_secdt_s_norms_say_nothing_where_rounding_would_tell_the_label():
    """All gradients of a class are equal here, so that plain scaling rounds all of a class alike."""
    gradient, labels = batch(rows=400)
    two = gradient[labels.argmin()] * (labels == 0)[:, None] + gradient[labels.argmax()] * (labels == 1)[:, None]
    scaled = two * (two.norm(dim=1).mean() / two.norm(dim=1))[:, None]
    assert norm_auc(scaled, labels) in (0.0, 1.0)
    own = defense("secdt")
    context = context_of(own, labels)
    found = [norm_auc(own.backward(two, context), labels) for _ in range(50)]
    positives = int(labels.sum())
    error = chance_floor(positives, 400 - positives) / 1.96
    assert abs(np.mean(found) - 0.5) < SIGMAS * error / math.sqrt(50)
    assert max(abs(auc - 0.5) for auc in found) < SIGMAS * error


def dealt(classes, expansion, as_array):
    pools = generator("pools", classes, expansion).permutation(classes * expansion).reshape(classes, expansion)
    return pools if as_array else [tuple(pool) for pool in pools.tolist()]


@pytest.mark.parametrize("as_array", [True, False])
@pytest.mark.parametrize("classes", [2, 5])
def test_secdt_decodes_as_written_out(classes, as_array):
    pools = dealt(classes, 3, as_array)
    drawn = generator("written out", classes).dirichlet(np.ones(classes * 3), 40)
    weighted, maximum = np.zeros((40, classes)), np.zeros((40, classes))
    for row, probabilities in enumerate(drawn):
        for label, pool in enumerate(pools):
            for fake in pool:
                weighted[row, label] += probabilities[fake]
                maximum[row, label] += probabilities[fake] == max(probabilities)
    np.testing.assert_allclose(secdt.to_class_probabilities(drawn, pools, "weighted"), weighted, atol=1e-12)
    np.testing.assert_array_equal(secdt.to_class_probabilities(drawn, pools, "maximum"), maximum)


def test_secdt_decodes_pools_of_different_size_and_the_first_of_equal_probabilities():
    drawn = np.array([[0.25, 0.25, 0.25, 0.25], [0.1, 0.1, 0.4, 0.4]])
    pools = [[3], [0, 1, 2]]
    np.testing.assert_allclose(secdt.to_class_probabilities(drawn, pools), [[0.25, 0.75], [0.4, 0.6]])
    np.testing.assert_array_equal(secdt.to_class_probabilities(drawn, pools, "maximum"), [[0, 1], [0, 1]])


@pytest.mark.parametrize("pools", [[[0], [1]], [[0, 1], [1, 2]], [[0, 1], [2, 3]]])
def test_secdt_decodes_only_pools_that_share_out_the_columns(pools):
    with pytest.raises(InputError, match=r"^secdt\.to_class_probabilities: .*; expected each of the 3 columns once$"):
        secdt.to_class_probabilities(np.full((2, 3), 1 / 3), pools, "weighted")


def test_secdt_decodes_in_no_other_way():
    with pytest.raises(
        InputError, match=r"^secdt\.to_class_probabilities: how = 'mean'; expected 'weighted' or 'maximum'$"
    ):
        secdt.to_class_probabilities(np.full((2, 2), 0.5), [[0], [1]], "mean")


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("iso", {"ratio": -1.0}),
        ("marvell", {"power": -1.0}),
        ("marvell", {"error": 0.5}),
        ("marvell", {"sum_kl": float("nan")}),
        ("dp", {"epsilon": 0.0}),
        ("dp", {"delta": 0.0}),
        ("dp", {"delta": 1.0}),
        ("dp", {"clip": 0.0}),
        ("mixpro", {"alpha": 0.0}),
        ("mixpro", {"phi": 1.1}),
        ("secdt", {"expansion": 0}),
        ("secdt", {"expansion": 2.5}),
        ("secdt", {"noise": -0.1}),
        ("secdt", {"noise_form": "laplace"}),
        ("secdt", {"normalize": "median"}),
        ("secdt", {"decoding": "mean"}),
    ],
)
def test_a_parameter_out_of_range_is_refused_by_name(name, wrong):
    with pytest.raises(InputError, match=rf"^defense\.{name}: {next(iter(wrong))} = "):
        defense(name, **wrong)


# Against the attacks they are made for, in a small training.

DEEP = {"use": "wide_deep", "width": 16, "bottom_layers": 2, "top_layers": 2, "buckets": 40, "embedding": 4}
SMALL = {
    "protocol": "split",
    "dataset": "made",
    "model": DEEP,
    "test_share": 0.25,
    "batch": 256,
    "epochs": 3,
    "rate": 0.003,
    "records": {"batches": 12},
}


@pytest.fixture(scope="module")
def leaks():
    """`leaks(name, **parameters)`: mean |AUC - 1/2| of the norm and the hint score over a small training's batches."""
    draw = generator("test_label_defenses", "data")
    codes = draw.integers(0, 40, (4096, 4))
    labels = (draw.random(4096) < 1 / (1 + np.exp(6 - 0.2 * codes[:, 0] - 0.1 * (codes[:, 1] % 7)))).astype(int)
    features = np.hstack([draw.integers(0, 50, (4096, 2)), codes]).astype(np.int32)
    names = ("i1", "i2", "c1", "c2", "c3", "c4")
    data, found = Table(features, labels, {}, names, names[2:], 2), {}
    assert 0.05 < labels.mean() < 0.3

    def run(name, **parameters):
        key = name, tuple(parameters.items())
        if key not in found:
            task = Task("made", name, 0, data, SMALL, {"": defense(name, **parameters)})
            outcome = plugins.create("protocol", "split").run(task)
            found[key] = dict(zip(("norm", "hint"), _scored(outcome), strict=True))
        return found[key]

    return run


def _scored(outcome):
    seen, gaps = outcome.transcripts[""], []
    for gradients, hints, labels in zip(seen["gradients"], seen["hints"], outcome.truth["labels"], strict=True):
        rest = np.setdiff1d(np.arange(len(labels)), hints)
        hint = leak_auc((gradients[rest] @ gradients[hints].T).max(axis=1), labels[rest])
        gaps.append([abs(norm_auc(gradients, labels) - 0.5), abs(hint - 0.5)])
    return np.mean(gaps, axis=0)


@pytest.mark.parametrize(
    ("name", "parameters", "attack"),
    [
        ("max_norm", {}, "norm"),
        ("marvell", {"sum_kl": 0.1}, "norm"),
        ("marvell", {"sum_kl": 0.1}, "hint"),
        ("marvell", {"power": 10.0}, "hint"),
        ("secdt", {}, "norm"),
        ("iso", {"ratio": 8.0}, "norm"),
        ("iso", {"ratio": 8.0}, "hint"),
        ("dp", {"epsilon": 1.0}, "norm"),
        ("dp", {"epsilon": 1.0}, "hint"),
        ("mixpro", {}, "hint"),
    ],
)
def test_a_defense_takes_at_least_half_of_what_the_attack_it_is_made_against_gains(name, parameters, attack, leaks):
    bare, defended = leaks("none")[attack], leaks(name, **parameters)[attack]
    assert bare > 0.3
    assert defended < bare / 2


def test_max_norm_does_not_stop_hints_and_marvell_does(leaks):
    assert leaks("marvell", sum_kl=0.1)["hint"] < leaks("max_norm")["hint"]


def test_more_of_marvell_leaks_less(leaks):
    found = [leaks("marvell", error=error)["hint"] for error in (0.1, 0.4)]
    assert found[1] < found[0] < leaks("none")["hint"]
