"""The information measures are those of their papers: held against torch's divergences, sums over pairs, and limits."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch.distributions import MultivariateNormal, kl_divergence

from cutlayer import information
from cutlayer.core.errors import InputError
from cutlayer.information import gaussian_leakage, jsd, principal, vclub


def torch_generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def drawn(seed: int, classes: int, n: int = 120, d: int = 5) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch_generator(seed)
    attribute = torch.randint(classes, (n,), generator=draw)
    z = torch.randn((n, d), generator=draw, dtype=torch.float64) * (1 + 0.3 * attribute[:, None])
    return z + 0.5 * attribute[:, None] * torch.randn(d, generator=draw), attribute


def spelled_out(z: torch.Tensor, attribute: torch.Tensor, sigma: float) -> torch.Tensor:
    """Equation (3), pair by pair."""
    fitted = {}
    for value in attribute.unique().tolist():
        rows = z[attribute == value]
        covariance = torch.cov(rows.T, correction=0).reshape(z.shape[1], -1) + sigma**2 * torch.eye(z.shape[1]).double()
        fitted[value] = MultivariateNormal(rows.mean(0), covariance), len(rows)
    pairs = itertools.permutations(fitted.values(), 2)
    return sum(n * m * kl_divergence(p, q) for (p, n), (q, m) in pairs) / len(z) ** 2


@pytest.mark.parametrize("classes", [2, 3, 9])
@pytest.mark.parametrize("sigma", [0.1, 1.0, 10.0])
def test_leakage_is_the_sum_of_divergences(classes: int, sigma: float) -> None:
    z, attribute = drawn(classes, classes)
    assert gaussian_leakage(z, attribute, sigma).item() == pytest.approx(
        spelled_out(z, attribute, sigma).item(), rel=1e-10
    )


def test_a_class_that_is_absent_counts_for_nothing() -> None:
    z, attribute = drawn(0, 3)
    assert gaussian_leakage(z, attribute * 7, 1.0).item() == pytest.approx(
        gaussian_leakage(z, attribute, 1.0).item(), rel=1e-12
    )
    alone = gaussian_leakage(z.requires_grad_(), torch.zeros(len(z), dtype=torch.int64), 1.0)
    alone.backward()
    assert alone.item() == 0
    assert not z.grad.any()


def test_a_class_of_one_example_is_a_ball_of_noise() -> None:
    z, attribute = torch.tensor([[0.0], [3.0]]), torch.tensor([0, 1])
    assert gaussian_leakage(z, attribute, 2.0).item() == pytest.approx(2 * (3**2 / (2 * 2**2)) / 4)


def test_leakage_is_in_float64_and_differentiable() -> None:
    z, attribute = drawn(1, 2, n=40, d=3)
    assert gaussian_leakage(z.float(), attribute, 1.0).dtype == torch.float64
    assert torch.autograd.gradcheck(lambda x: gaussian_leakage(x, attribute, 1.0), z.requires_grad_())


@pytest.mark.parametrize("classes", [2, 5])
def test_many_rows_have_the_value_and_the_gradient_that_few_would_have(
    classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    z, attribute = drawn(classes, classes, n=40, d=3)
    attribute = 3 * attribute  # values need not be 0, 1, ...
    whole, (gradient,) = _with_gradient(z + 10, attribute)
    monkeypatch.setattr(information, "MANY", 1)
    again, (other,) = _with_gradient(z + 10, attribute)
    assert again == pytest.approx(whole, rel=1e-10)
    assert torch.allclose(other, gradient, rtol=1e-9, atol=1e-12)
    _, (single,) = _with_gradient((z + 10).float(), attribute)
    assert torch.allclose(single.double(), gradient, rtol=1e-3, atol=1e-5 * gradient.abs().max().item())


def _with_gradient(z: torch.Tensor, attribute: torch.Tensor) -> tuple[float, tuple[torch.Tensor, ...]]:
    z = z.detach().requires_grad_()
    leakage = gaussian_leakage(z, attribute, 1.0)
    return leakage.item(), torch.autograd.grad(leakage, z)


@pytest.mark.parametrize("rows", [300, 600])
def test_axes_of_wide_features_are_those_of_pca_too(rows: int) -> None:
    z = torch.randn((rows, 400), generator=torch.Generator().manual_seed(3)).double()
    z *= torch.linspace(3, 1, 400)
    axes = torch.linalg.eigh(torch.cov(z.T)).eigenvectors[:, -5:]
    found = principal(z, 5)
    torch.testing.assert_close(found @ found.T, axes @ axes.T, rtol=0, atol=1e-8)
    assert torch.equal(found, principal(z, 5))


def test_components_are_those_of_pca() -> None:
    z, attribute = drawn(2, 2, n=300, d=6)
    axes = torch.pca_lowrank(z, q=6, niter=20)[2][:, :2]
    expected = gaussian_leakage(z @ axes, attribute, 1.0)
    assert gaussian_leakage(z, attribute, 1.0, components=2).item() == pytest.approx(expected.item(), rel=1e-9)
    whole = gaussian_leakage(z, attribute, 1.0).item()
    assert gaussian_leakage(z, attribute, 1.0, components=6).item() == pytest.approx(whole, rel=1e-12)
    assert expected < whole


def test_leading_axes_say_nothing_of_a_leak_beside_them() -> None:
    """Why tcpo_exact takes all axes of a table's features: an attribute that one look tells, and hardly any L_p."""
    draw = torch_generator(4)
    attribute = torch.randint(2, (2000,), generator=draw)
    beside = 6.0 * (attribute[:, None] - 0.5) + torch.randn((2000, 1), generator=draw)
    z = torch.cat([10 * torch.randn((2000, 4), generator=draw), beside], dim=1)
    assert ((beside[:, 0] > 0) == (attribute == 1)).double().mean() > 0.95
    assert gaussian_leakage(z, attribute, 1.0, components=4) < 0.05
    assert gaussian_leakage(z, attribute, 1.0) > 1


def test_no_gradient_passes_through_the_projection() -> None:
    z, attribute = drawn(3, 2, n=50, d=4)
    axes = torch.linalg.eigh(torch.cov(z.T)).eigenvectors[:, -2:]
    (mine,) = torch.autograd.grad(gaussian_leakage(z.requires_grad_(), attribute, 1.0, components=2), z)
    (fixed,) = torch.autograd.grad(gaussian_leakage(z @ axes, attribute, 1.0), z)
    torch.testing.assert_close(mine, fixed)


@pytest.mark.parametrize("classes", [2, 3])
def test_with_kernels_their_bandwidth_is_in_place_of_the_noise(classes: int) -> None:
    """The mean and the covariance of a class's kernel density estimate, drawn from it."""
    z, attribute = drawn(6, classes, n=60, d=3)
    draw, fitted = torch_generator(7), {}
    for value in range(classes):
        own = z[attribute == value]
        shape = torch.cov(z.T, correction=0) * (4 / (5 * len(own))) ** (2 / 7)
        kernel = torch.randn((400_000, 3), generator=draw).double() @ torch.linalg.cholesky(shape).T
        sample = own[torch.randint(len(own), (400_000,), generator=draw)] + kernel
        fitted[value] = MultivariateNormal(sample.mean(0), torch.cov(sample.T)), len(own)
    pairs = itertools.permutations(fitted.values(), 2)
    expected = sum(n * m * kl_divergence(p, q) for (p, n), (q, m) in pairs).item() / len(z) ** 2
    assert gaussian_leakage(z, attribute, 1e-3, kernels=True).item() == pytest.approx(expected, rel=0.02)


def test_with_kernels_a_scale_hides_nothing_and_few_rows_are_enough() -> None:
    """Under noise small features leak little; a class of one row, and features that are all alike, are no error."""
    z, attribute = drawn(8, 2)
    small, large = (gaussian_leakage(x * z, attribute, 1.0, kernels=True).item() for x in (0.01, 100.0))
    assert small == pytest.approx(large, rel=0.05)
    assert gaussian_leakage(0.01 * z, attribute, 1.0) < small / 100
    rare = torch.cat([torch.zeros(119), torch.ones(1)]).long()
    assert gaussian_leakage(z, rare, 1.0, kernels=True).isfinite()
    assert gaussian_leakage(torch.ones(6, 3), torch.tensor([0, 0, 0, 1, 1, 1]), 1.0, kernels=True) == 0


def test_no_gradient_passes_through_the_bandwidth() -> None:
    z, attribute = drawn(9, 2, n=50, d=4)
    (found,) = torch.autograd.grad(gaussian_leakage(z.requires_grad_(), attribute, 1.0, kernels=True), z)
    assert (found * z).sum().abs() > 1e-3  # along z L_p does not change, were the bandwidth to follow


def test_equal_moments_do_not_leak_in_this_measure() -> None:
    """Erratum 2 of tcpo: two classes that differ in their third moments only have L_p = 0 and can be told apart."""
    skewed = torch.tensor([[2.0], [-1.0], [-1.0]], dtype=torch.float64)
    z, attribute = torch.cat([skewed, -skewed]), torch.tensor([0, 0, 0, 1, 1, 1])
    assert gaussian_leakage(z, attribute, 0.1).item() == pytest.approx(0, abs=1e-12)
    assert ((z[:, 0].abs() > 1.5) == (z[:, 0].abs() == 2)).all()
    assert {(x, s) for x, s in zip(z[:, 0].tolist(), attribute.tolist(), strict=True)} == {
        (2.0, 0), (-1.0, 0), (-2.0, 1), (1.0, 1),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"features": torch.zeros(4)}, "gaussian_leakage.features"),
        ({"attribute": torch.zeros(3)}, "gaussian_leakage.features"),
        ({"sigma": 0.0}, "gaussian_leakage.sigma: is 0.0; the noise's standard deviation is positive"),
        ({"components": 0}, "gaussian_leakage.components"),
    ],
)
def test_bad_input_is_named(changed: dict, message: str) -> None:
    given = {"features": torch.zeros(4, 2), "attribute": torch.zeros(4, dtype=torch.int64), "sigma": 1.0}
    with pytest.raises(InputError, match=message):
        gaussian_leakage(**(given | changed))


def test_vclub_is_over_all_pairs() -> None:
    draw = torch_generator(0)
    logits, labels = torch.randn((30, 4), generator=draw), torch.randint(4, (30,), generator=draw)
    log_q = logits.log_softmax(1)
    pairs = [log_q[i, labels[i]] - log_q[i, labels[j]] for i in range(30) for j in range(30)]
    assert vclub(logits, labels).item() == pytest.approx(torch.stack(pairs).mean().item(), rel=1e-5)


def test_vclub_of_constant_logits_is_zero() -> None:
    labels = torch.randint(4, (30,), generator=torch_generator(1))
    assert vclub(torch.randn(1, 4).expand(30, 4), labels).item() == pytest.approx(0, abs=1e-6)


def test_jsd_of_scores() -> None:
    positive, negative = torch.tensor([1.0, -2.0]), torch.tensor([0.5, 3.0, 0.0])
    by_hand = -torch.log1p(torch.exp(-positive)).mean() - torch.log1p(torch.exp(negative)).mean()
    assert jsd(positive, negative).item() == pytest.approx(by_hand.item(), rel=1e-6)
    assert jsd(torch.zeros(3), torch.zeros(3)).item() == pytest.approx(-2 * torch.log(torch.tensor(2.0)).item())
    assert jsd(torch.full((3,), 1e4), torch.full((3,), -1e4)).item() == pytest.approx(0)
