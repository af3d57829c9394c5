"""The marvell defense's solver is at the optimum: against a search, and against proofs of optimality in 120 digits.

The problem is convex in the logarithms of the perturbed variances, so that any multipliers give a lower bound of its
optimum. `bounds` polishes a solution's support to multipliers and returns that bound and the value of a feasible point:
whatever the solver did, the optimum lies between them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.gradient_noise import GradientNoise, optimal_noise, power_for
from cutlayer.gradient_noise.optimum import scaled

TINY = mpf(10) ** -40


class Case(NamedTuple):
    u: float
    v: float
    dim: int
    gap: float
    fraction: float
    power: float

    def solve(self) -> GradientNoise:
        return optimal_noise(*self)

    @property
    def weights(self):
        """What a unit of variance costs: negatives and positives along, negatives and positives across."""
        p = mpf(self.fraction)
        return [1 - p, p, (self.dim - 1) * (1 - p), (self.dim - 1) * p]


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(120):
        yield


def noises(n):
    return [n.negative_along, n.positive_along, n.negative_across, n.positive_across]


def terms(case):
    """2 sumKL + 2 dim = the sum of c A^i B^j a^k b^l over these (c, (i, j, k, l))."""
    along = [(mpf(1), (1, -1, 0, 0)), (mpf(1), (-1, 1, 0, 0))]
    means = [(mpf(case.gap), (-1, 0, 0, 0)), (mpf(case.gap), (0, -1, 0, 0))]
    across = [(mpf(case.dim - 1), (0, 0, 1, -1)), (mpf(case.dim - 1), (0, 0, -1, 1))]
    return [term for term in along + means + across if term[0]]


def values(case, x):
    return [c * mpmath.fprod(xi**e for xi, e in zip(x, exponents, strict=True)) for c, exponents in terms(case)]


def gradient(case, x):
    """Derivatives in the logarithms."""
    pairs = list(zip(values(case, x), (e for _, e in terms(case)), strict=True))
    return [sum(value * e[i] for value, e in pairs) for i in range(4)]


def polished(case, x, free, w):
    """Newton steps on the conditions of optimality for the variances in `free`; (variances, price of power)."""
    paid = [i for i in free if w[i] > 0]
    price = -gradient(case, x)[paid[0]] / (w[paid[0]] * x[paid[0]]) if paid else mpf(0)
    for _ in range(8 if free else 0):
        size = len(free) + bool(paid)
        system, right, slopes = mpmath.zeros(size, size), mpmath.zeros(size, 1), gradient(case, x)
        pairs = list(zip(values(case, x), (e for _, e in terms(case)), strict=True))
        for row, i in enumerate(free):
            for column, j in enumerate(free):
                system[row, column] = sum(value * e[i] * e[j] for value, e in pairs)
            system[row, row] += price * w[i] * x[i]
            right[row] = -(slopes[i] + price * w[i] * x[i])
            if paid:
                system[row, size - 1] = w[i] * x[i]
                system[size - 1, row] = w[i] * x[i]
        if paid:
            right[size - 1] = 1 - mpmath.fdot(w, x)
        step = mpmath.lu_solve(system, right)
        for row, i in enumerate(free):
            x[i] *= mpmath.exp(step[row])
        price += step[size - 1] if paid else 0
    if not paid:  # nothing to spend: the least price at which nothing would be bought
        slopes = gradient(case, x)
        price = max([mpf(0)] + [-slopes[i] / (w[i] * x[i]) for i in range(4) if w[i] > 0])
    return x, price


def bounds(case, noise):
    """A proven lower bound of the least sumKL, and a point, feasible to 40 digits, after its sumKL."""
    if case.u == case.v == 0:  # across there is nothing to tell apart and nothing to divide by
        case = case._replace(dim=1)
    if case.dim == 1:  # any variances across will do
        noise = noise._replace(negative_across=1.0, positive_across=1.0)
    floors = [mpf(case.u), mpf(case.v)] * 2
    x = [floor + mpf(add) for floor, add in zip(floors, noises(noise), strict=True)]
    budget = mpf(case.power) + mpmath.fdot(case.weights, floors)
    w = [wi / budget for wi in case.weights]  # all that is spent is at most 1, in any unit
    free = [i for i in range(4 if case.dim > 1 else 2) if noises(noise)[i] > 0]
    x, price = polished(case, x, sorted(free, key=lambda i: -w[i] * mpf(noises(noise)[i])), w)
    spent, value = mpmath.fdot(w, x), mpmath.fsum(values(case, x))
    assert spent <= 1 + TINY
    assert all(xi >= floor * (1 - TINY) for xi, floor in zip(x, floors, strict=True))
    lower = value + price * (spent - 1)
    for slope, xi, wi, floor in zip(gradient(case, x), x, w, floors, strict=True):
        multiplier = slope + price * wi * xi
        if multiplier > 0:  # least where the variance is
            lower += multiplier * (mpmath.log(floor / xi) if floor else -1000)
        else:
            lower += multiplier * (mpmath.log(1 / wi / xi) if wi else 1000)
    return lower / 2 - case.dim, value / 2 - case.dim, x


def divergence(case, noise):
    """sumKL at a solution's rounded variances."""
    x = [mpf(floor) + mpf(add) for floor, add in zip([case.u, case.v] * 2, noises(noise), strict=True)]
    if case.dim == 1 or case.u == case.v == 0:
        x[2:] = [mpf(1), mpf(1)]
    return mpmath.fsum(values(case, x)) / 2 - case.dim


def spent(case, noise):
    return mpmath.fdot(case.weights, [mpf(x) for x in noises(noise)])


def assert_optimal(case, tolerance=1e-12):
    noise = case.solve()
    lower, upper, _ = bounds(case, noise)
    assert lower > 0
    assert upper / lower - 1 < 1e-12
    assert noise.sum_kl / lower == pytest.approx(1, rel=tolerance)
    assert all(x >= 0 for x in noises(noise))
    assert noise.negative_along >= noise.negative_across
    assert noise.positive_along >= noise.positive_across
    assert abs(spent(case, noise) / mpf(case.power) - 1) < 1e-13
    # Rounding a variance moves sumKL by its slope times 1e-16.
    rounding = 1e-7 * (math.sqrt(noise.sum_kl * case.dim) * 1e-8) + 1e-28 * case.dim
    assert divergence(case, noise) <= noise.sum_kl * (1 + 1e-10) + rounding


magnitudes = st.floats(-12, 12).map(lambda e: 10.0**e)
orders = st.sampled_from([1e-12, 1e-8, 1e-3, 0.1, 1.0])
fractions = st.one_of(
    st.floats(0.001, 0.999), st.sampled_from([0.0, 0.5, 1.0]), orders, orders.map(lambda x: max(0.0, 1 - x))
)
dims = st.sampled_from([1, 2, 3, 16, 128, 1000000])


@st.composite
def cases(draw):
    """Any magnitudes, jointly and mixed; some close or zero variances, equal means, nearly the power that is enough."""
    unit = draw(st.sampled_from([1.0, 1e-12, 1e12]))
    size = magnitudes if unit == 1.0 else st.floats(-2, 2).map(lambda e: unit * 10.0**e)
    u, dim, fraction = draw(size), draw(dims), draw(fractions)
    v = draw(st.one_of(size, orders.map(lambda x: u * (1 + x)), st.just(u), st.just(0.0)))
    gap = draw(st.one_of(size, size, st.just(0.0)))
    u, v = draw(st.permutations([draw(st.sampled_from([u, u, u, 0.0])), v]))
    enough = (fraction if u > v else 1 - fraction) * dim * abs(u - v)
    power = draw(st.one_of(size, size, orders.map(lambda x: enough * (1 - x)), orders.map(lambda x: enough * (1 + x))))
    return Case(u, v, dim, gap, fraction, power)


@settings(max_examples=300)
@given(cases())
# Digits were lost here once: to k = C - C0 where power is plenty, in the bracket, in r A - v, in Newton's last step.
@example(Case(0.0, 1651178601.0994341, 1000000, 62.0778824361758, 0.26521914712862904, 1213254872765126.5))
@example(Case(20605987153.391174, 0.0, 1000000, 1.707743328622073e-08, 0.4942552287863299, 1.0184617132703516e16))
@example(Case(339247434244348.9, 9.418318246632493e-12, 128, 3.137919388131209e21, 1.0, 1.5285631469553268e-31))
@example(Case(674.7872085423735, 0.0797692818695845, 1000000, 543.0345433342383, 1.0, 674707439.2605051))
def test_the_optimum_is_proven_at_any_magnitude(case):
    assume(case.power > 0)
    noise = case.solve()
    if noise.sum_kl == 0:
        assert case.gap == 0
        assert case.u == case.v == 0 or divergence(case, noise) < 1e-28 * case.dim
    else:
        assert_optimal(case)


@pytest.mark.parametrize("unit", [1.0, 1e-12, 1e12, 1e-150, 1e150])
def test_the_optimum_is_proven_in_every_unit(unit):
    for u, v, gap, fraction, power in [(1, 2, 3, 0.25, 5), (2, 1, 3, 0.25, 1), (1, 1.01, 9, 0.1, 0.1)]:
        assert_optimal(Case(u * unit, v * unit, 128, gap * unit, fraction, power * unit))


def least(function, low, high):
    """Golden-section search of a convex function's minimum."""
    ratio = (mpmath.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(75):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return min(at_left, at_right)


@pytest.mark.parametrize(
    "case",
    [
        Case(1.0, 2.0, 4, 3.0, 0.25, 5.0),  # noise on both classes
        Case(1.0, 2.0, 4, 0.5, 0.25, 1.0),  # on the class of less variance only
        Case(1.0, 1.1, 4, 9.0, 0.1, 0.05),  # on the rare class only
        Case(3.0, 0.5, 2, 1.0, 0.3, 2.0),
        Case(0.0, 1.0, 3, 0.1, 0.4, 4.0),
    ],
)
def test_nested_searches_find_nothing_better(case):
    """Search the power across, then how each part is split between the classes: no derivative, no theory."""
    with mp.workdps(40):
        u, v, p, power = mpf(case.u), mpf(case.v), mpf(case.fraction), mpf(case.power)

        def split(amount, gap):
            def value(x):
                A, B = u + x / (1 - p), v + (amount - x) / p
                return (A - B) ** 2 / (A * B) + gap * (1 / A + 1 / B) if A > 0 else mpf(10) ** 30

            return least(value, mpf(0), amount)

        others = case.dim - 1
        found = least(lambda k: split(power - k, mpf(case.gap)) + others * split(k / others, mpf(0)), mpf(0), power) / 2
        assert case.solve().sum_kl == pytest.approx(float(found), rel=1e-12)


BORDERS = [(1, 1.1, 9, 0.1), (1, 2, 30, 0.05), (1, 1.001, 0.01, 0.4), (1, 2, 1, 0.9), (1, 5, 0.1, 0.3)]


@pytest.mark.parametrize(("u", "v", "gap", "fraction"), [*BORDERS, (2, 1, 8, 0.8)])
def test_the_optimum_is_proven_across_the_borders_of_the_cases(u, v, gap, fraction):
    """As the power grows, noise starts on one class, on the other, across; each start is a border of formulas."""
    for power in np.geomspace(1e-4, 1e4, 60):
        assert_optimal(Case(u, v, 8, gap, fraction, float(power)))


@pytest.mark.parametrize(("u", "v", "gap", "p"), BORDERS)
def test_the_price_of_power_is_the_slope_of_the_optimum(u, v, gap, p):
    for power in np.geomspace(1e-2, 1e4, 25).tolist():
        low, here, high = (scaled(u, v, 8, gap, p, 1 - p, power * (1 + h)) for h in (-1e-5, 0, 1e-5))
        slope = (low.sum_kl - high.sum_kl) / (2e-5 * power)
        assert here.price / 2 == pytest.approx(slope, rel=1e-3, abs=1e-9 * here.sum_kl / power)


@given(cases(), st.sampled_from([-300, -40, -3, 1, 60, 200]))
def test_scaling_all_inputs_scales_the_noise(case, exponent):
    """By a power of two, so that nothing is rounded: only what leaves the range of floats may change."""
    unit = 2.0**exponent
    scaled = case._replace(u=case.u * unit, v=case.v * unit, gap=case.gap * unit, power=case.power * unit)
    noise, other = case.solve(), scaled.solve()
    assert other.sum_kl == noise.sum_kl
    assert [x * unit for x in noises(noise)] == noises(other)


@given(cases(), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_swapping_the_classes_swaps_the_noise(case, fraction):
    case = case._replace(fraction=fraction)
    assume(case.u != case.v)
    other = case._replace(u=case.v, v=case.u, fraction=1 - fraction).solve()
    swapped = GradientNoise(
        other.positive_along, other.positive_across, other.negative_along, other.negative_across, other.sum_kl
    )
    assert case.solve() == swapped


@given(cases())
def test_with_equal_variances_the_labels_are_symmetric(case):
    case = case._replace(v=case.u, fraction=0.25)
    noise, other = case.solve(), case._replace(fraction=0.75).solve()
    assert noise.sum_kl == pytest.approx(other.sum_kl, rel=1e-12, abs=0)
    assert noise.negative_along == pytest.approx(other.positive_along, rel=1e-10, abs=1e-14 * (case.u + case.power))
    assert noise.negative_across == noise.positive_across == 0


@given(cases(), st.floats(1e-6, 3))
def test_more_power_is_never_worse(case, more):
    better = case._replace(power=case.power * (1 + more)).solve().sum_kl
    assert better <= case.solve().sum_kl * (1 + 1e-13)
    assert case.solve().sum_kl <= case._replace(power=0.0).solve().sum_kl * (1 + 1e-13)


@given(cases(), magnitudes)
@example(Case(0.0, 0.0039, 1000000, 0.0598, 0.667, 1.0), 1e-20)
@example(Case(67.6, 0.0, 1000000, 0.0, 0.5, 1.0), 1e-20)
def test_power_for_is_the_least_power_that_reaches_the_target(case, target):
    *problem, _ = case
    power = power_for(*problem, target)
    assert optimal_noise(*problem, power).sum_kl <= target
    if power == 0:
        return
    before = optimal_noise(*problem, math.nextafter(power, 0)).sum_kl
    assert before > target or optimal_noise(*problem, power).sum_kl >= target * (1 - 1.1e-12)
    assert optimal_noise(*problem, 0.0).sum_kl > target
    assert optimal_noise(*problem, power * 0.999).sum_kl > target


@pytest.mark.parametrize("fraction", [0.01, 0.25, 0.5, 0.9])
def test_power_for_needs_few_solves(fraction, monkeypatch):
    """The price of power is the slope of sumKL, so that Newton's steps converge."""
    solves, rng = [], generator("few solves")
    monkeypatch.setattr("cutlayer.gradient_noise.power.scaled", lambda *numbers: solves.append(0) or scaled(*numbers))
    drawn = 10 ** rng.uniform(-3, 3, (100, 4))
    for u, v, gap, target in drawn.tolist():
        power_for(u, v, 16, gap, fraction, target)
        power_for(u, u, 16, gap, fraction, target)
    assert len(solves) <= 14 * len(drawn)


@given(cases())
def test_power_for_is_the_inverse(case):
    """Where sumKL determines the power: a relative step of 1e-6 in the power must show in it."""
    *problem, power = case
    target = case.solve().sum_kl
    assume(0 < target < math.inf)
    assume(optimal_noise(*problem, power * (1 - 1e-6)).sum_kl > target * (1 + 1e-9))
    assert power_for(*problem, target) == pytest.approx(power, rel=1e-8, abs=0)


@pytest.mark.parametrize("target", [0.1, 0.25, 1.44, 0.64, 0.16])
def test_power_for_the_paper_s_targets(target):
    power = power_for(1e-6, 3e-6, 128, 2e-4, 0.25, target)
    assert optimal_noise(1e-6, 3e-6, 128, 2e-4, 0.25, power).sum_kl == pytest.approx(target, rel=2e-12)


def test_power_for_targets_that_need_none_or_have_none():
    assert power_for(1.0, 2.0, 4, 1.0, 0.3, optimal_noise(1.0, 2.0, 4, 1.0, 0.3, 0.0).sum_kl) == 0
    assert power_for(0.0, 1.0, 4, 1.0, 0.3, math.inf) == 0
    assert power_for(1.0, 1.0, 4, 0.0, 0.3, 0.0) == 0
    assert power_for(1.0, 1.0, 4, 1e-100, 0.3, 0.0) == math.inf  # different means are told apart at any power
    assert power_for(1.0, 1.0, 4, 1e140, 0.3, 1e-200) == math.inf  # beyond the floats
    assert power_for(1.0, 2.0, 4, 0.0, 0.25, 0.0) == 3.0  # (1 - p) dim (v - u): variances made equal
    assert power_for(0.1, 0.7, 3, 0.0, 0.3, 0.0) == pytest.approx(0.7 * 3 * 0.6)
    assert optimal_noise(0.1, 0.7, 3, 0.0, 0.3, power_for(0.1, 0.7, 3, 0.0, 0.3, 0.0)).sum_kl == 0
    assert power_for(2.0, 1.0, 4, 0.0, 0.0, 0.0) == 0  # there are no positives: their noise is free


def test_equal_variances_need_noise_along_only():
    noise = Case(1.0, 1.0, 128, 4.0, 0.5, 6.0).solve()
    assert noise[:4] == (6.0, 0.0, 6.0, 0.0)  # (1 - p) 6 + p 6 = 6
    assert noise.sum_kl == pytest.approx(4 / 7)  # gap / (1 + 6), as for two Gaussians of one covariance


def test_a_small_noise_across_has_all_its_digits():
    case = Case(0.0, 1.0, 128, 1e20, 0.5, 1e3)
    noise = case.solve()
    *_, x = bounds(case, noise)
    assert noise.negative_across < 1e-6
    assert noise.negative_across == pytest.approx(float(x[2]), rel=1e-12, abs=0)


def test_one_dimension_has_no_across():
    noise = Case(1.0, 3.0, 1, 2.0, 0.25, 1.0).solve()
    assert noise.negative_across == noise.positive_across == 0
    assert_optimal(Case(1.0, 3.0, 1, 2.0, 0.25, 1.0))


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1.0, 1e12])
@pytest.mark.parametrize("power", [1e-12, 1.0, 1e12])
def test_zero_variances(gap, power):
    for u, v in [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)]:
        case = Case(u, v, 16, gap, 0.25, power)
        if case.solve().sum_kl:
            assert_optimal(case)
        else:
            assert gap == 0


def test_zero_variances_without_power_are_told_apart_for_sure():
    for u, v, gap in [(0.0, 1.0, 0.0), (1.0, 0.0, 1.0), (0.0, 0.0, 1.0)]:
        assert Case(u, v, 4, gap, 0.3, 0.0).solve() == (0, 0, 0, 0, math.inf)
    assert Case(0.0, 0.0, 4, 0.0, 0.3, 0.0).solve() == (0, 0, 0, 0, 0)
    assert Case(0.0, 0.0, 4, 0.0, 0.3, 7.0).solve() == (0, 0, 0, 0, 0)


def test_one_mean_makes_the_variances_equal_and_spends_no_more():
    assert Case(1.0, 3.0, 4, 0.0, 0.25, 5.0).solve()[:4] == pytest.approx((5 / 3, 5 / 3, 0, 0))
    assert Case(1.0, 3.0, 4, 0.0, 0.25, 6.0).solve() == (2, 2, 0, 0, 0)
    assert Case(1.0, 3.0, 4, 0.0, 0.25, 60.0).solve() == (2, 2, 0, 0, 0)
    assert Case(3.0, 1.0, 4, 0.0, 0.25, 60.0).solve() == (0, 0, 2, 2, 0)


@pytest.mark.parametrize("short", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15])
def test_a_power_just_short_of_making_the_variances_equal(short):
    """sumKL is near the square of a difference of rounded numbers: 1e-30 is right to 10 digits too."""
    for gap in (0.0, 1e-40, 1e-20):
        assert_optimal(Case(0.7, 1.9, 128, gap, 0.3, 0.7 * 128 * 1.2 * (1 - short)))


def test_no_power_is_no_noise():
    noise = Case(1.0, 2.0, 3, 4.0, 0.25, 0.0).solve()
    assert noise[:4] == (0, 0, 0, 0)
    assert noise.sum_kl == pytest.approx((3 * 0.5 + 4 * 1.5) / 2)


@pytest.mark.parametrize("power", [0.0, 1e-12, 1.0, 1e12])
def test_the_noise_of_a_class_without_examples_is_free(power):
    for u, v in [(1.0, 2.0), (2.0, 1.0), (1.0, 1.0)]:
        only_negatives, only_positives = Case(u, v, 4, 3.0, 0.0, power), Case(u, v, 4, 3.0, 1.0, power)
        if power:
            assert_optimal(only_negatives)
            assert_optimal(only_positives)
        # The value of the best ratio of the variances along, given that of the class with examples.
        if v <= u:
            gap = 3.0 / (u + power)
            assert only_negatives.solve().sum_kl == pytest.approx(math.sqrt(1 + gap) - 1 + gap / 2)
        if u <= v:
            gap = 3.0 / (v + power)
            assert only_positives.solve().sum_kl == pytest.approx(math.sqrt(1 + gap) - 1 + gap / 2)


@pytest.mark.parametrize("name", ["u", "v", "gap", "power"])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_bad_numbers_are_refused(name, value):
    given_values = {"u": 1.0, "v": 1.0, "dim": 2, "gap": 1.0, "positive_fraction": 0.5, "power": 1.0, name: value}
    with pytest.raises(InputError) as error:
        optimal_noise(**given_values)
    assert str(error.value) == f"gradient_noise.optimal_noise: {name} = {value!r}; a finite number that is at least 0"


@pytest.mark.parametrize("fraction", [-0.1, 1.1, math.nan])
def test_a_fraction_outside_0_to_1_is_refused(fraction):
    with pytest.raises(InputError, match=r"gradient_noise\.power_for: positive_fraction = .*; a number from 0 to 1"):
        power_for(1.0, 1.0, 2, 1.0, fraction, 1.0)


@pytest.mark.parametrize("dim", [0, -3, 2.0, 1.5])
def test_a_dim_that_is_not_a_positive_integer_is_refused(dim):
    with pytest.raises(InputError, match=r"gradient_noise\.optimal_noise: dim = .*; an integer that is at least 1"):
        optimal_noise(1.0, 1.0, dim, 1.0, 0.5, 1.0)


@pytest.mark.parametrize("target", [-1e-9, math.nan])
def test_a_bad_target_is_refused(target):
    with pytest.raises(InputError, match=r"gradient_noise\.power_for: sum_kl = .*; a number that is at least 0"):
        power_for(1.0, 1.0, 2, 1.0, 0.5, target)


def test_numbers_too_far_apart_are_refused():
    with pytest.raises(InputError) as error:
        optimal_noise(1e-100, 1.0, 2, 1e100, 0.5, 0.0)
    wrong = "1e-100 and 1e+100 are too far apart; a ratio of 1e-150 is allowed, or 0"
    assert str(error.value) == f"gradient_noise.optimal_noise: {wrong}"
    with pytest.raises(InputError, match=r"gradient_noise\.power_for: 1e-200 and 1\.0 are too far apart"):
        power_for(1.0, 1e-200, 2, 0.0, 0.5, 1.0)


@given(
    st.lists(st.floats(-60, 60).map(lambda e: 10.0**e) | st.just(0.0), min_size=4, max_size=4),
    dims,
    fractions,
    orders,
)
def test_no_accepted_input_breaks_the_solver(numbers, dim, fraction, target):
    u, v, gap, power = numbers
    noise = optimal_noise(u, v, dim, gap, fraction, power)
    assert all(x >= 0 for x in noise)
    assert spent(Case(u, v, dim, gap, fraction, power), noise) <= mpf(power) * (1 + 1e-13)
    reached = power_for(u, v, dim, gap, fraction, target)
    assert reached == math.inf or optimal_noise(u, v, dim, gap, fraction, reached).sum_kl <= target


def test_numbers_of_numpy_are_taken():
    noise = optimal_noise(np.float64(1), np.float32(2), np.int64(4), np.float64(3), np.float64(0.25), np.float64(5))
    assert noise == Case(1.0, 2.0, 4, 3.0, 0.25, 5.0).solve()
    assert all(type(x) is float for x in noise)


# The errata of the paper, referred to by name.


def printed(u, v, dim, gap, noise):
    """The objective of theorem 1 as printed: lambda^(0) is added to u and lambda^(1) to v."""
    negative_along, negative_across, positive_along, positive_across, _ = noise
    A, B, a, b = negative_along + u, positive_along + v, negative_across + u, positive_across + v
    return (dim - 1) * (a / b + b / a) + (A + gap) / B + (B + gap) / A


def of_gaussians(mean, negative, positive):
    """sumKL of N(0, negative) and N(mean, positive)."""
    inverses = np.linalg.inv(negative), np.linalg.inv(positive)
    traces = np.trace(inverses[0] @ positive) + np.trace(inverses[1] @ negative)
    return (traces - 2 * len(mean) + mean @ (inverses[0] + inverses[1]) @ mean) / 2


def test_errata_1_the_printed_objective_has_u_for_the_negatives():
    """Section 4.2 gives u to the positives; the objective is the Gaussians' sumKL with u for the negatives."""
    u, v, dim, mean = 1.0, 3.0, 3, np.array([1.0, 2.0, 2.0])
    noise = optimal_noise(u, v, dim, 9.0, 0.25, 4.0)
    direction, eye = np.outer(mean, mean) / 9, np.eye(dim)
    sigma0 = (noise.negative_along - noise.negative_across) * direction + noise.negative_across * eye
    sigma1 = (noise.positive_along - noise.positive_across) * direction + noise.positive_across * eye
    objective = printed(u, v, dim, 9.0, noise) / 2 - dim
    assert of_gaussians(mean, sigma0 + u * eye, sigma1 + v * eye) == pytest.approx(objective)
    assert noise.sum_kl == pytest.approx(objective)
    assert of_gaussians(mean, sigma0 + v * eye, sigma1 + u * eye) > 1.5 * objective


def test_errata_2_the_positives_noise_along_is_not_negative_but_positive():
    """With lambda_1^(1) <= 0, as printed, only 0 is left for it, and that is not the optimum."""
    noise = optimal_noise(1.0, 1.0, 4, 4.0, 0.5, 6.0)
    assert noise.positive_along == 6.0
    grid = np.linspace(0, 12, 2001)
    left = np.array([printed(1.0, 1.0, 4, 4.0, (x, 0.0, 0.0, 0.0, 0.0)) for x in grid]) / 2 - 4
    assert left.min() > 1.5 * noise.sum_kl


def test_errata_3_the_class_of_larger_variance_gets_no_noise_across():
    """The remark says lambda_2^(1) = 0 if u >= v: under the printed objective that is lambda_2^(0)."""
    for u, v in [(2.0, 1.0), (1.0, 2.0)]:
        noise = optimal_noise(u, v, 8, 1.0, 0.3, 2.0)
        assert (noise.negative_across == 0, noise.positive_across == 0) == (u > v, v > u)
        # What the remark says: nothing for the class of less variance, the power goes along.
        grid = np.linspace(0, 2 / 0.3, 1001)
        remark = [printed(u, v, 8, 1.0, ((2 - 0.3 * y) / 0.7, 0.0, y, 0.0, 0.0)) / 2 - 8 for y in grid]
        assert min(remark) > 1.1 * noise.sum_kl


def test_errata_4_a_large_budget_s_minimum_is_inside_the_segment():
    """The proof puts the minimum over p l1 + (1 - p) l0 = c at l0 = 0 for v >= u; where c is large, l0 + u = l1 + v."""
    u, v, p, c = 1.0, 2.0, 0.25, 5.0
    l1 = np.linspace(0, c / p, 200001)
    l0 = (c - p * l1) / (1 - p)
    ratio = (l0 + u) / (l1 + v) + (l1 + v) / (l0 + u)
    assert l1[ratio.argmin()] == pytest.approx(4.25, abs=1e-3)
    assert ratio.min() == pytest.approx(2)
    assert ratio[-1] > 3  # l0 = 0, as the proof says
    assert ratio[0] > 3  # l1 = 0
