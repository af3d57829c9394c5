"""Logistic regression: a stack trains each model as if it were alone, bad data stop it, and it learns."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression as Reference

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.games.vertical.models.logistic_regression import _Stack
from cutlayer.games.vertical.preprocess import min_max
from cutlayer.plan import plugins


@pytest.fixture(scope="module")
def data():
    table = plugins.create("dataset", "breast_cancer").load({})
    order = generator("test_model").permutation(len(table.labels))
    return min_max(table.features, order)[order], table.labels[order]


def fit(data, scale=1.0, shift=0.0, **parameters):
    X, y = data
    options = {"rate": 0.05, "epochs": 12, "batch": 128} | parameters
    model = plugins.create("model", "logistic_regression", options)
    scale, shift = (np.atleast_1d(v)[:, None] * np.ones((1, X.shape[1])) for v in (scale, shift))
    return model.fit(X, y, int(y.max()) + 1, scale, shift, 0, "here")


@pytest.mark.parametrize("parameters", [{"l2": 0.01}, {"patience": 1, "rate": 0.3, "epochs": 25}])
def test_a_stacked_model_is_the_model_trained_alone(data, parameters):
    scale, shift = np.array([1.0, -1.0, 0.2]), np.array([0.0, 1.0, 0.5])
    together = fit(data, scale, shift, **parameters)
    for v in range(3):
        for stacked, alone in zip(together, fit(data, scale[v], shift[v], **parameters), strict=True):
            np.testing.assert_allclose(stacked[v], alone[0], atol=1e-10)
    assert np.abs(together[0][0] - together[0][2]).max() > 0.1


def test_a_rescaled_model_is_the_model_of_rescaled_features(data):
    X, y = data
    for inside, outside in zip(fit(data, -1.0, 1.0), fit((1 - X, y)), strict=True):
        np.testing.assert_allclose(inside, outside, atol=1e-10)


def test_the_seed_decides(data):
    first, second = fit(data), fit(data)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_data_that_are_no_numbers_stop_the_run_by_name(data, bad):
    X, y = data
    with pytest.raises(InputError, match=r"^run\.here: loss is not finite in epoch 1, model 0"):
        fit((np.where(np.arange(len(X))[:, None] % 7 == 0, bad, X), y))


def test_it_learns_more_than_the_majority(data):
    X, y = data
    weights, bias = fit((X[:400], y[:400]))
    right = np.mean((X[400:] @ weights[0].T + bias[0]).argmax(axis=1) == y[400:])
    assert right > np.mean(y[400:] == 1) + 0.2


def test_with_a_penalty_it_tends_to_the_minimizer_of_equation_76(data):
    """The bias is penalized like a weight of a constant feature. Every row is there often, so held-out rows as well."""
    X, y = np.tile(data[0][:40], (50, 1)), np.tile(data[1][:40], 50)
    weights, bias = fit((X, y), l2=0.05, epochs=200, batch=2000, patience=200)
    ours = np.append(weights[0, 1] - weights[0, 0], bias[0, 1] - bias[0, 0])
    constant = np.column_stack([X, np.ones(len(X))])
    reference = Reference(C=1 / (0.05 * len(X)), fit_intercept=False, tol=1e-10).fit(constant, y).coef_[0]
    assert np.linalg.norm(ours - reference) < 0.05 * np.linalg.norm(reference)


@pytest.mark.parametrize("penalize_bias", [True, False])
@pytest.mark.parametrize("classes", [2, 4])
def test_newton_ends_where_the_loss_of_all_rows_is_flat_and_adam_tends_to_it(data, classes, penalize_bias):
    X, y = data[0], data[1] + 2 * (data[0][:, 1] > 0.3) * (classes > 2)
    scale, shift = np.array([1.0, -1.0, 0.2]), np.array([0.0, 1.0, 0.5])
    own = {"l2": 0.01, "penalize_bias": penalize_bias}
    found = fit((X, y), scale, shift, optimizer="newton", **own)
    wide = [np.repeat(part[:, None], X.shape[1], axis=1) for part in (scale, shift)]
    stack = _Stack(X, y, classes, *wide, 0.01, torch.Generator(), "cpu", penalize_bias)

    def loss(weights, bias):
        with torch.no_grad():
            for parameter, value in zip(stack.parameters, (weights, bias), strict=True):
                parameter.copy_(torch.tensor(value))
        return stack.losses(torch.arange(len(X)))

    least = loss(*found)
    least.sum().backward()
    assert max(float(parameter.grad.abs().max()) for parameter in stack.parameters) < 1e-9
    early, late = (loss(*fit((X, y), scale, shift, epochs=epochs, patience=200, **own)) for epochs in (1, 40))
    assert (early > late + 0.01).all()
    assert (late > least).all()


def test_newton_needs_a_penalty_and_numbers(data):
    with pytest.raises(InputError, match=r"^model\.logistic_regression: newton without a penalty; l2 > 0"):
        fit(data, optimizer="newton")
    with pytest.raises(InputError, match=r"^run\.here: loss is not finite; check the data"):
        fit((data[0] * np.nan, data[1]), optimizer="newton", l2=0.01)


def test_weights_and_biases_have_one_row_per_class(data):
    weights, bias = fit((data[0], np.arange(len(data[1])) % 4), [1.0, 2.0], [0.0, 0.0], epochs=1)
    assert weights.shape == (2, 4, 30)
    assert bias.shape == (2, 4)
    assert weights.dtype == bias.dtype == np.float64
