"""Estimates of several means at once, and what they say of single ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cutlayer.ledger.statistics import (
    Sample,
    Unit,
    at_places,
    holm,
    interval,
    smallest_of_largest,
    surely,
)

values = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(np.array)


@given(values)
def test_of_one_setting_the_least_is_that_setting(sample):
    assert smallest_of_largest([[Sample(sample)]]) == Sample(sample).estimate()
    assert at_places([Sample(sample).estimate], largest=True) == Sample(sample).estimate()


@given(values, values)
def test_another_setting_only_adds_doubt_on_the_side_where_it_may_be_the_best(first, second):
    both = smallest_of_largest([[Sample(first), Sample(second)]])
    assert both.mean == max(first.mean(), second.mean())
    assert both.high == max(Sample(one).estimate().high for one in (first, second))
    assert both.low <= max(Sample(one).estimate().low for one in (first, second))


def test_the_error_of_the_tested_rows_adds_to_that_of_the_seeds():
    seeds, rows = interval([0.1, 0.2, 0.3])[2] - 0.2, interval([0.2, 0.2, 0.2], 0.05)[2] - 0.2
    assert rows == pytest.approx(1.96 * 0.05, rel=1e-4)
    assert interval([0.1, 0.2, 0.3], 0.05)[2] - 0.2 == pytest.approx(np.hypot(seeds, rows))


def test_a_fact_is_a_point_however_few_there_are():
    assert Sample(np.array([0.3]), exact=True).estimate() == Sample(np.array([0.3, 0.3])).estimate()


def test_places_are_counted_that_are_surely_below():
    below, above, unsure = (Sample(np.array(v)) for v in ([-1, -1.01, -0.99], [1, 1.01, 0.99], [-1.0, 2.0, -2.0]))
    assert surely([[[below]]] * 4 + [[[above]]] * 2) == 4
    assert surely([[[unsure]]] * 6) == 0
    assert surely([[[below, above]]]) == 0  # not below both
    assert surely([[[below], [above]]]) == 1  # one of two is
    assert surely([[[Sample(np.array([0.0, 1e-12, -1e-12]))]]]) == 0


def with_p(p):
    """A sample of five seeds whose mean is below 0 with this p-value."""
    values = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    return Sample(values + float(stats.t.ppf(p, 4)) * values.std(ddof=1) / np.sqrt(5))


def test_the_sample_of_a_p_value_has_it():
    assert with_p(0.02).below() == pytest.approx(0.02)


def test_places_are_counted_by_holm_which_stops_at_the_first_that_is_not_shown():
    """p = 0.020 and 0.024 at a level of 0.025: not even one place is shown, where Hochberg's procedure counts two."""
    assert surely([[[with_p(0.020)]], [[with_p(0.024)]]]) == 0
    assert surely([[[with_p(0.012)]], [[with_p(0.024)]]]) == 2
    assert surely([[[with_p(0.0124)]], [[with_p(0.026)]]]) == 1


def test_many_places_share_the_level_and_so_do_several_rows_of_one():
    assert surely([[[with_p(0.02)]]]) == 1
    assert surely([[[with_p(0.02)]]] + [[[with_p(0.9)]]] * 9) == 0
    assert surely([[[with_p(0.02)], [with_p(0.9)]]]) == 0  # one of two rows is enough, so that each has half
    assert surely([[[with_p(0.012)], [with_p(0.9)]]]) == 1


def test_holm_keeps_the_order_and_is_the_procedure_of_its_paper():
    assert holm([0.9, 0.001, 0.008, 0.011], 0.025) == [False, True, True, True]
    assert holm([0.9, 0.001, 0.009, 0.011], 0.025) == [False, True, False, False]
    assert holm([]) == []


# Between 0 and 1.

ends = st.lists(st.floats(0, 1), min_size=2, max_size=6).map(np.array)


@given(ends, st.sampled_from([0.0, 5.0, 174.0, 1e4]), st.sampled_from([0.5, 1.0]), st.floats(0, 0.1))
def test_no_interval_of_a_share_ends_below_0_or_above_1_or_leaves_its_mean_out(values, rows, largest, error):
    found = Sample(values, error, unit=Unit(rows, largest)).estimate()
    assert 0 <= found.low <= found.mean + 1e-12
    assert found.mean - 1e-12 <= found.high <= 1


def test_all_of_five_seeds_may_be_1_and_less_may_be_true():
    """An AUC of 1 in all seeds of 174 positives; the lower end is that of the audit that these rules come from."""
    found = Sample(np.ones(5), unit=Unit(174, 0.5)).estimate()
    assert (found.low, found.high) == (pytest.approx(0.9959, abs=5e-5), 1.0)
    assert Sample(np.zeros(5), unit=Unit(1000)).estimate().high == pytest.approx(0.005, abs=1e-4)


def test_the_interval_of_a_share_is_the_same_from_either_side():
    values, unit = np.array([0.9, 0.95, 0.99, 0.97, 0.93]), Unit(100, 0.5)
    found, turned = Sample(values, 0.01, unit=unit).estimate(), Sample(1 - values, 0.01, unit=unit).estimate()
    assert (1 - turned.high, 1 - turned.low) == pytest.approx((found.low, found.high))
    less = Sample(values - 0.9, 0.01, unit=Unit(100, 0.5, shift=0.9))
    assert (less.estimate().low + 0.9, less.estimate().high + 0.9) == pytest.approx((found.low, found.high))
    assert ((-less).estimate().low, (-less).estimate().high) == (-less.estimate().high, -less.estimate().low)


@pytest.mark.parametrize("shift", [0.93, 0.96, 0.98])
def test_the_p_value_of_a_limit_is_its_interval_turned_round(shift):
    """What the one-sided 97.5% interval leaves out has p below 2.5%, and nothing else has."""
    values = np.array([0.9, 0.95, 0.99, 0.97, 0.93])
    sample = Sample(values - shift, own=0.02, unit=Unit(100, 0.5, shift))
    assert (sample.estimate().high < 0) == (sample.below() < 0.025)
    assert ((-sample).estimate().high < 0) == ((-sample).below() < 0.025)


def test_seeds_that_happen_to_lie_close_are_no_surer_than_their_rows():
    """Five draws of randomized response on Avazu (0.7451 of 0.7311 promised): not above, by max(s, e) / sqrt(5)."""
    values = np.array([0.7329, 0.7367, 0.7567, 0.7544, 0.7449]) - 0.7310586
    naive, found = (Sample(values, own=own, unit=Unit(174, 0.5, 0.7310586)).estimate() for own in (0, 0.0212))
    assert interval(values)[1] > 0
    assert naive.low < 0  # the largest error that an AUC can have is known of the rows alone
    assert (found.low, found.high) == (pytest.approx(-0.0133, abs=5e-4), pytest.approx(0.0393, abs=5e-4))
