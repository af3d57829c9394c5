"""The area that settings dominate before a reference point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutlayer.ledger.tradeoff import hypervolume

WORST = (6, 1)  # leak and utility of the reference point
points = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=8)


def area(settings):
    leak, utility = np.array(settings, dtype=float).reshape(-1, 2).T
    return hypervolume(leak, utility, *map(float, WORST))


@given(points)
def test_the_area_is_that_of_the_unit_squares_that_some_setting_dominates(settings):
    squares = [(x, y) for x in range(WORST[0]) for y in range(WORST[1], 8)]
    covered = [any(leak <= x and utility >= y + 1 for leak, utility in settings) for x, y in squares]
    assert area(settings) == sum(covered)


@given(points, st.tuples(st.integers(0, 8), st.integers(0, 8)))
def test_another_setting_never_takes_area_away(settings, more):
    assert area([*settings, more]) >= area(settings)
    assert area([*settings, *settings]) == area(settings)


def test_by_hand():
    assert area([(2, 4), (4, 7)]) == pytest.approx((6 - 2) * (4 - 1) + (6 - 4) * (7 - 4))
    assert area([(6, 9), (7, 9), (0, 1)]) == 0
    assert area([]) == 0
