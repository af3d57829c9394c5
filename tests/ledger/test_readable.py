"""Numbers and intervals as people read them."""

from __future__ import annotations

import pytest

from cutlayer.ledger.readable import decimals, interval, number

POINTS = [(0.9, 0.9), (0.9, 0.9 - 1e-16), (-3e-30, -2e-30), (float("nan"), float("nan"))]


@pytest.mark.parametrize(("low", "high"), POINTS)
def test_an_interval_that_is_a_point_but_for_rounding_has_no_ends(low, high):
    """The ends of what is the same in every seed may even change places."""
    assert decimals(low, high) is None
    assert interval(low, high) == ""


def test_an_interval_has_two_digits_of_its_reach():
    assert interval(0.1, 0.2) == "0.100 to 0.200"
    assert interval(-20, 180) == "-20 to 180"


def test_a_number_without_an_interval_has_four_digits():
    assert [number(-2.7566e-30), number(3.0), number(0.12345)] == ["-2.757e-30", "3", "0.1235"]
