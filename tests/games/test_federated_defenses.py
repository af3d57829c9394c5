"""The devices' defenses of the federated protocol: the contract of their hooks, and what each guarantees.

What holds on average is tested with a tolerance of SIGMAS standard errors; a distribution by Kolmogorov and Smirnov's
test at LEVEL.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from tests.games.contracts import DIFFER, draws_with, near, over
from tests.params import params
from torch.distributions import MultivariateNormal, kl_divergence
from torch.nn.functional import cross_entropy

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.games.federated.defense import Defense, FederationContext
from cutlayer.games.federated.defenses import dpfe
from cutlayer.plan import plugins
from cutlayer.plan.sweeps import settings_of

SIGMAS, LEVEL = 5.0, 1e-6
NAMES = plugins.names("defense", "federated")
PARAMS = params()["defenses"]
OTHERS = [
    ("tappfl", {"weight": 1.0}),
    ("tappfl", {"sign": "printed"}),
    ("dp_gaussian", {"clip": 0.1, "epsilon": 8.0}),
    ("dp_laplace", {"clip": 0.1, "epsilon": 8.0}),
    ("model_compression", {"share": 1.0}),
    ("dpfe", {"estimate": "pairs"}),
]
CONFIGURED = [(v["use"], p) for v in PARAMS.values() if v["use"] in NAMES for p in settings_of(v).values()]
SETTINGS = [(name, {}) for name in NAMES] + OTHERS + CONFIGURED
every_setting = over(SETTINGS)
NOISY = ["dp_gaussian", "dp_laplace"]
UNIT = {"dp_gaussian": stats.norm(), "dp_laplace": stats.laplace(scale=math.sqrt(0.5))}  # of standard deviation 1
ESTIMATES = ["gaussian", "pairs"]


def seeded(*name: object) -> torch.Generator:
    return torch.Generator().manual_seed(int(generator("test_federated_defenses", *name).integers(2**31)))


def defense(name: str, **parameters: Any) -> Defense:
    return plugins.create("defense", name, parameters, "federated")


def federation(rounds: int = 20, seed: object = 0) -> FederationContext:
    return FederationContext(devices=100, participants=10, rounds=rounds, generator=seeded("federation", seed))


def uploads(devices: int = 5, parameters: int = 400, seed: object = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """The parameters before a round (P,) and after it (D, P), which move more from device to device."""
    draw = seeded("uploads", seed)
    before = torch.randn(parameters, generator=draw)
    moves = torch.linspace(0.001, 0.2, devices)[:, None] * torch.randn((devices, parameters), generator=draw)
    return before, before + moves


def batches(
    devices: int = 4, rows: int = 10, shape: tuple[int, ...] = (6,), values: int = 3, padded: int = 2, seed: object = 0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Features (D, B, ...) that depend on the attribute (D, B), and the mask (D, B); the first device's is full."""
    draw = seeded("batches", seed)
    attribute = torch.randint(values, (devices, rows), generator=draw)
    features = torch.randn((devices, rows, *shape), generator=draw)
    features += attribute.reshape(devices, rows, *[1 for _ in shape])
    mask = torch.ones(devices, rows, dtype=torch.bool)
    mask[1:, rows - padded :] = False
    return features, attribute, mask


def odd_batches() -> list[tuple[str, tuple[torch.Tensor, torch.Tensor, torch.Tensor]]]:
    features, attribute, mask = batches()
    lone = mask & (torch.arange(10) == 3)
    return [
        ("one value", (features, torch.zeros_like(attribute), mask)),
        ("one row each", (features, attribute, lone)),
        ("a device without rows", (features, attribute, mask & (torch.arange(4) != 2)[:, None])),
        ("all the same", (torch.ones_like(features), attribute, mask)),
        ("all 0", (torch.zeros_like(features), attribute, mask)),
        ("huge", (1e6 * features, attribute, mask)),
        ("tiny", (1e-20 * features, attribute, mask)),
        ("an image", batches(shape=(3, 4, 4))),
    ]


def penalty(own: Defense, values: int = 3, **kinds: Any) -> torch.Tensor | None:
    return own.regularizer(*batches(values=values, **kinds), values)


# The contract.


def test_these_are_the_defenses() -> None:
    assert {"none", "tappfl", "dp_gaussian", "dp_laplace", "model_compression", "dpfe", "at"} <= set(NAMES)


@every_setting
def test_roles_are_networks_that_a_device_can_train(name: str, parameters: dict) -> None:
    roles = defense(name, **parameters).roles
    unknown = ", ".join(map(repr, sorted(set(roles) - {"utility", "privacy", "task"})))
    assert not unknown, f"has the role {unknown}; expected utility, privacy or task"
    for role, factor in roles.items():
        assert math.isfinite(factor), f"the factor of the role {role} is {factor}; expected a finite number"


@every_setting
def test_uploads_are_finite_and_what_was_trained_stays_as_it_is(name: str, parameters: dict) -> None:
    before, after = uploads()
    kept = before.clone(), after.clone()
    sent = defense(name, **parameters).upload(before, after, federation())
    assert sent.shape == after.shape
    assert sent.dtype == torch.float32
    assert sent.isfinite().all(), "upload returned a number that is not finite"
    assert torch.equal(before, kept[0]), "upload changed the `before` it was given; expected a new tensor"
    assert torch.equal(after, kept[1]), "upload changed the `after` it was given; expected a new tensor"


@every_setting
def test_the_generator_decides_all_that_is_random(name: str, parameters: dict) -> None:
    """And torch's global one is left where it was."""
    own, runs = defense(name, **parameters), []
    for seed in (0, 1):
        torch.manual_seed(seed)
        known = federation()
        with draws_with("federation"):
            runs.append([own.upload(*uploads(seed=turn), known) for turn in range(2)])
    for first, second in zip(*runs, strict=True):
        assert torch.equal(first, second), f"upload: {DIFFER.format('trainings', 'the federation')}"


@every_setting
def test_a_penalty_is_a_number_for_each_device_with_a_finite_gradient(name: str, parameters: dict) -> None:
    own = defense(name, **parameters)
    for kind, (features, attribute, mask) in odd_batches():
        found = own.regularizer(features.requires_grad_(), attribute, mask, 3)
        if found is None:
            continue
        assert found.shape == (len(features),), kind
        assert found.dtype == features.dtype, kind
        assert found.isfinite().all(), f"regularizer returned a number that is not finite for features that are {kind}"
        assert found.requires_grad, "regularizer returned a constant; expected a function of the features"
        found.sum().backward()
        assert features.grad.isfinite().all(), f"regularizer's gradient is not finite for features that are {kind}"


@every_setting
def test_padding_does_not_count(name: str, parameters: dict) -> None:
    own, (features, attribute, mask) = defense(name, **parameters), batches()
    found = own.regularizer(features.requires_grad_(), attribute, mask, 3)
    if found is None or not found.requires_grad:
        return
    found.sum().backward()
    counts = "regularizer counts padding: rows where the mask is False must not matter"
    assert not features.grad[~mask].any(), counts
    other, values = features.detach().clone(), attribute.clone()
    other[~mask], values[~mask] = 17.0, 0
    assert near(own.regularizer(other, values, mask, 3), found, rtol=1e-6, atol=1e-9), counts
    short = own.regularizer(features[1:, :8], attribute[1:, :8], mask[1:, :8], 3)
    assert near(short, found[1:], rtol=1e-6, atol=1e-9), counts


@every_setting
def test_a_device_s_penalty_is_its_own(name: str, parameters: dict) -> None:
    own, (features, attribute, mask) = defense(name, **parameters), batches()
    found = own.regularizer(features, attribute, mask, 3)
    for i in range(len(features) if found is not None else 0):
        alone = own.regularizer(features[i : i + 1], attribute[i : i + 1], mask[i : i + 1], 3)
        own_alone = near(alone[0], found[i], rtol=1e-6, atol=1e-9)
        assert own_alone, "regularizer's number for a device depends on the others' rows; each device is alone"


@pytest.mark.parametrize("name", NAMES)
def test_the_strength_is_a_parameter_and_its_range_allowed(name: str) -> None:
    method = plugins.method("defense", name)
    strength, (least, most) = method.constants["strength"], method.constants["strengths"]
    if not strength and (name in plugins.EVERYWHERE or plugins.home("defense", name)):
        return
    assert strength in method.parameters, f"its strength is {strength!r}, which is no parameter of it"
    assert least < most, f"its strengths are {(least, most)}; expected (least, greatest)"
    for value in (least, most):
        plugins.check_parameters("defense", name, {strength: value})


@pytest.mark.parametrize("name", [name for name in NAMES if plugins.method("defense", name).constants["strength"]])
def test_no_strength_is_no_defense(name: str) -> None:
    own = defense(name, **{plugins.method("defense", name).constants["strength"]: 0.0})
    before, after = uploads()
    assert torch.equal(own.upload(before, after, federation()), after), "of strength 0 upload changes what was trained"
    assert min(own.roles.values()) == 0 or len(own.roles) == 1, "of strength 0 another role than one has a factor"
    found = penalty(own)
    assert found is None or not found.any(), "of strength 0 regularizer is not 0"


@every_setting
def test_only_what_is_accounted_for_is_guaranteed(name: str, parameters: dict) -> None:
    if plugins.home("defense", name):
        return  # it may account for something else
    asked = {"epsilon": parameters["epsilon"], "delta": 1e-5} if parameters.get("epsilon") else {}
    assert defense(name, **parameters).spent(federation()) == asked


def test_none_trains_for_utility_alone() -> None:
    assert defense("none").roles == {"utility": 1.0}


# tappfl and at.


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_tappfl_is_equation_7(weight: float) -> None:
    assert defense("tappfl", weight=weight).roles == {"privacy": -weight, "utility": 1 - weight}
    assert defense("tappfl", weight=weight, sign="printed").roles == {"privacy": weight, "utility": 1 - weight}


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_at_trains_for_the_task_in_place_of_information(weight: float) -> None:
    assert defense("at", weight=weight).roles == {"privacy": -weight, "task": 1 - weight}


def game(own: Defense) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The privacy network's cross-entropy before and after a step of the extractor along its share, and that slope.

    Both are linear, and the network has learned a little: at its optimum no linear extractor has a slope.
    """
    draw = seeded("game")
    attribute = torch.randint(2, (200,), generator=draw)
    x = torch.randn((200, 3), generator=draw) + 1.5 * attribute[:, None]
    extractor, privacy = torch.eye(3).requires_grad_(), torch.zeros(3, 2, requires_grad=True)
    for _ in range(3):
        (slope,) = torch.autograd.grad(cross_entropy(x @ extractor @ privacy, attribute), privacy)
        privacy = (privacy - 0.5 * slope).detach().requires_grad_()
    loss = cross_entropy(x @ extractor @ privacy, attribute)
    (slope,) = torch.autograd.grad(own.roles["privacy"] * loss, extractor)
    after = cross_entropy(x @ (extractor - 0.01 * slope) @ privacy, attribute)
    return loss.detach(), after.detach(), slope


@pytest.mark.parametrize("weight", [0.25, 0.5, 1.0])
def test_algorithm_1_as_printed_helps_the_privacy_network_and_equation_7_harms_it(weight: float) -> None:
    """Line 18: a step of the extractor along its share of CE; the network's cross-entropy falls, or rises."""
    before, printed, slope = game(defense("tappfl", weight=weight, sign="printed"))
    _, corrected, other = game(defense("tappfl", weight=weight))
    assert slope.abs().max() > 1e-3
    assert printed < before < corrected
    torch.testing.assert_close(other, -slope)


def test_at_harms_the_privacy_network() -> None:
    before, after, _ = game(defense("at"))
    assert after > before


# dp_gaussian and dp_laplace.


def noise_of(own: Defense, devices: int, parameters: int, seed: object = 0) -> torch.Tensor:
    """(D, P) in double: what is uploaded for parameters that have not moved from 0."""
    return own.upload(torch.zeros(parameters), torch.zeros(devices, parameters), federation(seed=seed)).double()


@pytest.mark.parametrize("deviation", [0.003, 1.0])
@pytest.mark.parametrize("name", NOISY)
def test_noise_has_the_stated_standard_deviation(name: str, deviation: float) -> None:
    found = noise_of(defense(name, noise=deviation), 100, 1000) / deviation
    kurtosis = 3 + float(UNIT[name].stats("k"))
    assert abs(found.mean()) < SIGMAS / math.sqrt(found.numel())
    assert abs(found.square().mean() - 1) < SIGMAS * math.sqrt((kurtosis - 1) / found.numel())


@pytest.mark.parametrize("name", NOISY)
def test_noise_has_its_name_s_distribution_and_not_the_other_s(name: str) -> None:
    found = noise_of(defense(name, noise=1.0), 10, 10000).flatten().numpy()
    for other, distribution in UNIT.items():
        assert (stats.kstest(found, distribution.cdf).pvalue > LEVEL) == (other == name)


@pytest.mark.parametrize("name", NOISY)
def test_noise_is_each_device_s_and_each_round_s_own(name: str) -> None:
    """Neither between devices nor between parameters or rounds is there a correlation, of 20,000 numbers each."""
    own, known = defense(name, noise=1.0), federation()
    rounds = [own.upload(torch.zeros(20000), torch.zeros(3, 20000), known) for _ in range(2)]
    rows = torch.cat([*rounds, rounds[0][:1].roll(1, 1)]).double()
    correlations = torch.corrcoef(rows) - torch.eye(len(rows))
    assert correlations.abs().max() < SIGMAS / math.sqrt(20000)


@pytest.mark.parametrize("name", NOISY)
def test_what_a_device_trained_moves_its_upload_as_far_without_clipping(name: str) -> None:
    before, after = uploads()
    own = defense(name, noise=0.1)
    sent, still = (own.upload(before, x, federation()) for x in (after, before.expand_as(after)))
    torch.testing.assert_close(sent - still, after - before, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("name", "order"), [("dp_gaussian", 2), ("dp_laplace", 1)])
def test_an_accounted_upload_moves_by_at_most_the_clip(name: str, order: int) -> None:
    """In its norm, along the same line; what is shorter moves as it is."""
    before, after = uploads()
    change = after - before
    lengths = change.norm(order, dim=1)
    clip = lengths.median().item()
    assert 0 < (lengths > clip).sum() < len(lengths)
    own = defense(name, clip=clip, epsilon=1000.0)
    sent, still = (own.upload(before, x, federation()) for x in (after, before.expand_as(after)))
    moved = sent - still
    torch.testing.assert_close(moved, change * (clip / lengths).clamp(max=1)[:, None], rtol=0, atol=1e-5)
    assert (moved.norm(order, dim=1) <= clip * (1 + 1e-3)).all()


@pytest.mark.parametrize("name", NOISY)
def test_accounted_noise_is_that_of_the_accountant_for_twice_the_clip(name: str) -> None:
    own = defense(name, clip=0.1, epsilon=8.0, noise=7.0)
    found = noise_of(own, 100, 1000) / own._least(20)
    kurtosis = 3 + float(UNIT[name].stats("k"))
    assert abs(found.square().mean() - 1) < SIGMAS * math.sqrt((kurtosis - 1) / found.numel())
    assert own._least(20) == pytest.approx(2 * defense(name, clip=0.05, epsilon=8.0)._least(20))


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Of the Gaussian mechanism with sensitivity mu standard deviations: Balle and Wang, theorem 8."""
    return stats.norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)


@pytest.mark.parametrize("epsilon", [0.5, 8.0])
@pytest.mark.parametrize("rounds", [1, 20])
def test_dp_gaussian_s_noise_is_the_least_that_the_closed_form_allows(epsilon: float, rounds: int) -> None:
    """So many uploads of one device are one Gaussian mechanism of sqrt(rounds) times the sensitivity."""
    mu = math.sqrt(rounds) * 2 * 0.1 / defense("dp_gaussian", clip=0.1, epsilon=epsilon)._least(rounds)
    assert gaussian_delta(epsilon, mu) <= 1.001e-5
    assert gaussian_delta(epsilon, 1.001 * mu) > 1e-5


def laplace_loss(epsilon: float, delta: float, rounds: int) -> float:
    """How far two devices' changes, each at most 0.1 long, can be from each other, in scales of the accounted noise."""
    own = defense("dp_laplace", clip=0.1, epsilon=epsilon, delta=delta)
    return 2 * 0.1 / (own._least(rounds) / math.sqrt(2))


def laplace_delta(epsilon: float, loss: float) -> float:
    """Of the Laplace mechanism with L1 sensitivity `loss` scales, at any epsilon of either sign."""
    return 1 - min(1.0, math.exp(epsilon), math.exp((epsilon - loss) / 2))


@pytest.mark.parametrize("epsilon", [0.5, 8.0])
@pytest.mark.parametrize("delta", [1e-5, 0.01])
def test_dp_laplace_s_noise_for_one_upload_is_the_closed_form_s(epsilon: float, delta: float) -> None:
    loss = laplace_loss(epsilon, delta, 1)
    assert loss == pytest.approx(epsilon - 2 * math.log1p(-delta), rel=1e-4)
    assert laplace_delta(epsilon, loss) <= delta * (1 + 1e-6)


def composed(losses: list[float], epsilon: float, optimistic: bool = False) -> float:
    """Delta of Laplace mechanisms with such sensitivities, on a grid ten times finer than the accountant's or more."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    grid, parts = 1e-3, []
    for loss in losses:
        parts.append(
            pld.from_laplace_mechanism(
                1.0, loss, pessimistic_estimate=not optimistic, value_discretization_interval=grid,
                use_connect_dots=not optimistic,
            )
        )  # fmt: skip
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.compose(part)
    return whole.get_delta_for_epsilon(epsilon)


@pytest.mark.parametrize("epsilon", [1.0, 8.0])
@pytest.mark.parametrize("rounds", [5, 20])
def test_dp_laplace_s_noise_is_enough_for_all_uploads_and_5_percent_less_is_not(epsilon: float, rounds: int) -> None:
    loss = laplace_loss(epsilon, 1e-5, rounds)
    assert composed([loss] * rounds, epsilon) <= 1e-5
    assert composed([loss / 0.95] * rounds, epsilon, optimistic=True) > 1e-5


@pytest.mark.parametrize("parts", [(0.5, 0.5), (0.9, 0.1), (0.25, 0.25, 0.25, 0.25), (0.7, 0.2, 0.1)])
def test_an_l1_norm_in_several_parameters_tells_no_more_than_in_one(parts: tuple[float, ...]) -> None:
    """Why the Laplace mechanism of one number accounts for vectors: at every epsilon, to the error of the grid."""
    for loss in (0.5, 2.0, 6.0):
        for epsilon in np.linspace(-loss, loss, 11):
            assert composed([loss * part for part in parts], float(epsilon)) <= laplace_delta(epsilon, loss) + 1e-3


@pytest.mark.parametrize("name", NOISY)
def test_accounted_noise_grows_with_the_rounds_and_falls_with_epsilon(name: str) -> None:
    by_rounds = [defense(name, clip=1.0, epsilon=8.0)._least(rounds) for rounds in (1, 5, 20)]
    by_epsilon = [defense(name, clip=1.0, epsilon=epsilon)._least(20) for epsilon in (1.0, 4.0, 16.0)]
    assert by_rounds == sorted(by_rounds)
    assert by_epsilon == sorted(by_epsilon, reverse=True)
    assert len({*by_rounds, *by_epsilon}) == 6


@pytest.mark.parametrize("name", NOISY)
@pytest.mark.parametrize("given", [{"epsilon": 1.0}, {"clip": 1.0}])
def test_a_clip_without_an_epsilon_is_refused_and_the_reverse(name: str, given: dict) -> None:
    with pytest.raises(InputError, match=rf"^defense\.{name}: clip = .* and epsilon = .*; both or neither$"):
        defense(name, **given)


# model_compression.


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999, 1.0])
def test_compression_leaves_out_exactly_the_share_of_each_device_and_the_smallest(share: float) -> None:
    before, after = uploads(parameters=1000)
    after *= torch.tensor([1e-6, 1.0, 1.0, 1.0, 1e6])[:, None]
    sent = defense("model_compression", share=share).upload(before, after, federation())
    for own, whole in zip(sent, after, strict=True):
        gone = own == 0
        assert gone.sum() == round(share * 1000)
        assert torch.equal(own[~gone], whole[~gone])
        assert gone.all() or not gone.any() or whole[gone].abs().max() < whole[~gone].abs().min()


# dpfe.


def spelled_out(rows: np.ndarray, attribute: np.ndarray, sigma: float) -> float:
    """The determinants of the k x k covariances."""

    def entropy(some: np.ndarray) -> float:
        covariance = np.cov(some.T, bias=True).reshape(rows.shape[1], -1) + sigma**2 * np.eye(rows.shape[1])
        return np.linalg.slogdet(covariance).logabsdet / 2

    values, counts = np.unique(attribute, return_counts=True)
    within = [n / len(rows) * entropy(rows[attribute == u]) for u, n in zip(values, counts, strict=True)]
    return entropy(rows) - sum(within)


@pytest.mark.parametrize("sigma", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("shape", [(1,), (6,), (128,), (3, 4, 4)])
@pytest.mark.parametrize("values", [2, 7])
def test_dpfe_s_gaussian_information_is_that_of_each_device_s_covariances(
    sigma: float, shape: tuple[int, ...], values: int
) -> None:
    features, attribute, mask = batches(shape=shape, values=values)
    found = defense("dpfe", weight=3.0, sigma=sigma).regularizer(features.double(), attribute, mask, values)
    for i, own in enumerate(mask):
        rows = features[i, own].flatten(1).double().numpy()
        assert found[i].item() == pytest.approx(3 * spelled_out(rows, attribute[i, own].numpy(), sigma), rel=1e-9)


def test_dpfe_s_gaussian_information_is_torch_s_entropies() -> None:
    """The entropy of the Gaussian of all rows, less the mean of those of the values'."""
    features, attribute, mask = batches(rows=40, padded=0, devices=1)
    rows, values = features[0].double(), attribute[0]

    def entropy(some: torch.Tensor) -> torch.Tensor:
        covariance = torch.cov(some.T, correction=0) + 0.25 * torch.eye(6)
        return MultivariateNormal(some.mean(0), covariance).entropy()

    within = sum((values == u).double().mean() * entropy(rows[values == u]) for u in range(3))
    found = dpfe.gaussian(rows[None] / 0.5, attribute, mask, 3)[0]
    assert found.item() == pytest.approx((entropy(rows) - within).item(), rel=1e-9)


def test_dpfe_s_pairs_are_the_divergences_of_the_rows_gaussians() -> None:
    features, attribute, mask = batches(devices=2)
    found, ball = defense("dpfe", estimate="pairs", sigma=0.7).regularizer(features, attribute, mask, 3), torch.eye(6)
    for i, own in enumerate(mask):
        rows, values = features[i, own], attribute[i, own]
        clouds = [MultivariateNormal(row, 0.49 * ball) for row in rows]
        total = sum(
            kl_divergence(p, q) for p, u in zip(clouds, values, strict=True)
            for q, v in zip(clouds, values, strict=True) if u != v
        )  # fmt: skip
        assert found[i].item() == pytest.approx(total.item() / len(rows) ** 2, rel=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_dpfe_s_pairs_bound_the_information_of_noisy_rows(seed: int) -> None:
    """By sampling: E log p(z | u) / p(z) of a random row of the batch with noise, less SIGMAS standard errors."""
    features, attribute, mask = batches(devices=1, shape=(2,), values=2, padded=0, seed=seed)
    rows, values, draw = features[0].double(), attribute[0], seeded("noise", seed)
    assert 0 < values.sum() < len(values)
    drawn = torch.randint(len(rows), (5000,), generator=draw)
    z = rows[drawn] + torch.randn((5000, 2), generator=draw)
    near = -(z[:, None] - rows).square().sum(2) / 2
    same = values[drawn][:, None] == values
    of_value = near.masked_fill(~same, -math.inf).logsumexp(1) - same.sum(1).log()
    gains = of_value - near.logsumexp(1) + math.log(len(rows))
    found = defense("dpfe", estimate="pairs").regularizer(features, attribute, mask, 2)
    assert gains.mean() > 0
    assert found.item() >= gains.mean() - SIGMAS * gains.std() / math.sqrt(5000)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_dpfe_is_0_for_one_value_above_it_else_and_grows_with_the_distance_of_the_values(estimate: str) -> None:
    own, (features, attribute, mask) = defense("dpfe", estimate=estimate), batches(values=2, shape=(20,))
    alone = own.regularizer(features, torch.zeros_like(attribute), mask, 2)
    torch.testing.assert_close(alone, torch.zeros(4))
    shifts = [0.0, 5.0, 50.0]
    found = torch.stack([own.regularizer(features + s * attribute[..., None], attribute, mask, 2) for s in shifts])
    assert (found > 0).all()
    assert (found.diff(dim=0) > 0).all()


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_dpfe_is_the_same_wherever_the_features_are_and_however_turned(estimate: str) -> None:
    own, (features, attribute, mask) = defense("dpfe", estimate=estimate), batches()
    turn = torch.linalg.qr(torch.randn((6, 6), generator=seeded("turn"))).Q
    moved = own.regularizer(features @ turn + 3.0, attribute, mask, 3)
    torch.testing.assert_close(moved, own.regularizer(features, attribute, mask, 3), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("estimate", ESTIMATES)
def test_dpfe_s_gradient_is_that_of_finite_differences(estimate: str) -> None:
    own, (features, attribute, mask) = defense("dpfe", estimate=estimate), batches(devices=2, rows=5, padded=1)
    assert torch.autograd.gradcheck(
        lambda x: own.regularizer(x, attribute, mask, 3), features.double().requires_grad_()
    )


def test_a_small_batch_of_wide_rows_shows_information_that_is_not_there() -> None:
    """The bias that the docstring tells of: the attribute is drawn apart from the features."""
    draw = seeded("bias")
    features, attribute = torch.randn((100, 10, 128), generator=draw), torch.randint(2, (100, 10), generator=draw)
    found = dpfe.gaussian(features.double(), attribute, torch.ones(100, 10, dtype=torch.bool), 2)
    assert found.mean() > math.log(2)  # more than a binary attribute has


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("tappfl", {"weight": -0.1}),
        ("tappfl", {"weight": 1.1}),
        ("tappfl", {"sign": "minus"}),
        ("at", {"weight": 1.1}),
        ("dp_gaussian", {"noise": -1.0}),
        ("dp_gaussian", {"noise": float("nan")}),
        ("dp_gaussian", {"delta": 0.0}),
        ("dp_gaussian", {"epsilon": 0.001, "clip": 1.0}),
        ("dp_gaussian", {"epsilon": 1001.0, "clip": 1.0}),
        ("dp_laplace", {"epsilon": -1.0}),
        ("dp_laplace", {"clip": float("inf")}),
        ("model_compression", {"share": 1.5}),
        ("dpfe", {"weight": -1.0}),
        ("dpfe", {"sigma": 0.0}),
        ("dpfe", {"estimate": "mine"}),
    ],
)
def test_a_parameter_out_of_range_is_refused_by_name(name: str, wrong: dict) -> None:
    with pytest.raises(InputError, match=rf"^defense\.{name}: {next(iter(wrong))} = "):
        defense(name, **wrong)
