"""Estimates of several means at once, and what they say of single ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutlayer.core.seeds import generator
from cutlayer.ledger.statistics import Sample, at_places, interval, jackknife, smallest_of_largest, surely

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


def test_the_jackknife_of_a_mean_is_the_mean():
    sample = generator("jackknife").normal(size=5)
    np.testing.assert_allclose(jackknife(lambda places: float(sample[places].mean()), 5), sample)


def test_the_jackknife_takes_the_bias_off():
    """The square of a mean is too large by the variance of the mean; of the unbiased one nothing is left over."""
    sample = np.array([1.0, 2.0, 6.0])
    found = jackknife(lambda places: float(sample[places].mean() ** 2), 3).mean()
    assert found == pytest.approx(sample.mean() ** 2 - sample.var(ddof=1) / 3)
