"""Two sweeps where they leak alike, and where they are as useful: curves by hand, and how often a verdict is false."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutlayer.core.seeds import generator
from cutlayer.ledger.statistics import Sample
from cutlayer.ledger.tradeoff import advantage, curves

points = st.lists(
    st.tuples(st.integers(0, 8), st.integers(0, 8)), min_size=1, max_size=6, unique_by=lambda point: point[0]
)


def curve(*settings):
    """Of one seed's (leak, utility), held at an equal leak."""
    leak, utility = np.array(settings, dtype=float).T
    (found,) = curves(-leak[None], utility[None])
    return found


def test_by_hand():
    """0.7 to 0.9 over leaks 0 to 2, and 0.6 to 0.8 over 1 to 3: from 1 to 2 0.8 to 0.9 less 0.6 to 0.7."""
    assert advantage(curve((0, 0.7), (2, 0.9)), curve((1, 0.6), (3, 0.8))) == pytest.approx(0.2)


def test_curves_that_bend_where_the_other_does_not():
    """From 0 to 2: 0 to 1 at 1 and on to 1 (area 1.5) against 0 to 1 straight (area 1), over a length of 2."""
    assert advantage(curve((0, 0), (1, 1), (2, 1)), curve((0, 0), (2, 1))) == pytest.approx(0.25)


def test_a_setting_that_another_beats_bends_nothing():
    """(1, 0.2) leaks more and is less useful than (0, 0.5): from 0 to 2 the curve is the line to (2, 0.9)."""
    assert advantage(curve((0, 0.5), (1, 0.2), (2, 0.9)), curve((0, 0), (2, 0))) == pytest.approx(0.7)


def test_beyond_its_best_setting_a_curve_is_level():
    """Nobody takes (4, 0.1), and at a leak of up to 4 there is (1, 0.8)."""
    assert advantage(curve((1, 0.8), (4, 0.1)), curve((2, 0.5), (4, 0.5))) == pytest.approx(0.3)


def test_at_an_equal_utility():
    """Held equal is utility and compared minus leak: at 0.5 to 0.7 leaks of 1 to 3 against 2 to 4."""
    held = np.array([[0.5, 0.7]])
    (left,), (right,) = (curves(held, -np.array([leak], dtype=float)) for leak in ([1, 3], [2, 4]))
    assert advantage(left, right) == pytest.approx(1.0)


def test_without_a_common_range_nothing_is_compared():
    assert math.isnan(advantage(curve((0, 0.5), (1, 0.6)), curve((2, 0.5), (3, 0.6))))
    assert math.isnan(advantage(curve((0, 0.5), (1, 0.6)), curve((1, 0.5), (3, 0.6))))  # one point of two sweeps


def test_a_single_setting_is_compared_at_its_leak():
    assert advantage(curve((1, 0.9)), curve((0, 0.4), (2, 0.8))) == pytest.approx(0.3)
    assert math.isnan(advantage(curve((3, 0.9)), curve((0, 0.4), (2, 0.8))))


def test_what_is_on_the_front_is_chosen_on_the_other_seeds():
    """The second setting is beaten in both other seeds, and stays out where this one's noise has lifted it."""
    leak, use = np.tile([0.0, 1.0, 2.0], (3, 1)), np.array([[0.5, 5.0, 0.9], [0.5, 0.1, 0.9], [0.5, 0.1, 0.9]])
    lifted, *_ = curves(-leak, use)
    assert [*lifted.value] == [0.9, 0.5]


@given(points, points)
def test_turned_round_the_difference_is_too(left, right):
    one, other = curve(*left), curve(*right)
    found = advantage(one, other)
    assert math.isnan(found) or found == pytest.approx(-advantage(other, one), abs=1e-12)
    assert advantage(one, one) == pytest.approx(0, abs=1e-12)


@given(points)
def test_the_curve_of_one_seed_is_over_all_settings_and_never_falls(settings):
    own = curve(*settings)
    leak, utility = np.array(sorted(settings), dtype=float).T
    at = own.at(-leak)
    assert (at >= utility - 1e-12).all()
    assert (np.diff(at) >= -1e-12).all()
    assert {*zip(-own.held, own.value, strict=True)} <= {*settings}


def test_how_steep_a_curve_is():
    assert curve((0, 0.5), (1, 0.9), (2, 0.9)).steepness == pytest.approx(0.4)
    assert curve((0, 0.5)).steepness == 0


def decided(draw, lift, noises, counts=(4, 4), seeds=5):
    """The side on which the interval of 5 seeds is, of two sweeps on one curve, one `lift`ed above it."""
    sides = []
    for up, own, settings in zip((lift, 0.0), noises, counts, strict=True):
        leak, noise = np.linspace(0.55, 0.85, settings), draw.normal(0, own, (2, seeds, settings))
        sides.append(curves(-leak + noise[0], up + 0.3 * leak + noise[1]))
    found = Sample(np.array([advantage(*pair) for pair in zip(*sides, strict=True)])).estimate()
    return "above" if found.low >= 0 else "below" if found.high < 0 else ""


@pytest.mark.parametrize(
    ("noises", "counts"), [((0.005, 0.005), (4, 4)), ((0.02, 0.005), (4, 4)), ((0.02, 0.02), (8, 3))]
)
def test_of_one_curve_at_most_5_percent_are_decided_on_either_side(noises, counts):
    """500 trials leave 2 points for chance; by the front of the values themselves it is 7% and 20% in the last two."""
    said = [decided(generator("at equal leak", str(noises), trial), 0.0, noises, counts) for trial in range(500)]
    assert max(said.count("above"), said.count("below")) / len(said) <= 0.05


def test_a_curve_that_is_surely_above_is():
    said = [decided(generator("at equal leak, above", trial), 0.05, (0.005, 0.005)) for trial in range(50)]
    assert said.count("above") >= 48
