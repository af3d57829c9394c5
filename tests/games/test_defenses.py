"""The contract of the vertical protocol's defenses, over every one in every setting, and what each guarantees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.games.contracts import DIFFER, draws_with, near, over
from tests.params import params

from cutlayer import polytope
from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.games.vertical.defense import Context
from cutlayer.games.vertical.equations import difference_matrix, softmax
from cutlayer.plan import plugins
from cutlayer.plan.sweeps import settings_of
from cutlayer.theory.chebyshev import theorem3, theorem4

PARAMS = params()["defenses"]
VERTICAL = plugins.names("defense", "vertical")
CONFIGURED = [(v["use"], p) for v in PARAMS.values() if v["use"] in VERTICAL for p in settings_of(v).values()]
PROBABILITIES = {name for name in VERTICAL if plugins.create("defense", name, {}, "vertical").distributions}
EXTREME = [("class_label", {"rest": 0.49}), ("score_noise", {"scheme": 2, "budget": 1000.0})]
SETTINGS = [(name, {}) for name in VERTICAL] + CONFIGURED + EXTREME
OF_PROBABILITIES = [(name, p) for name, p in SETTINGS if name in PROBABILITIES]
BUDGETS = [(p["scheme"], p["budget"]) for name, p in CONFIGURED if name == "score_noise"]
CLASSES = [2, 4]
A_DECISION = "which class has the highest score; expected the same one"


every_setting = over(SETTINGS)
every_k = pytest.mark.parametrize("k", CLASSES)


def logits(k):
    """Rows of k logits, two decimals: ties happen, and what differs does so after rounding too."""
    return arrays(int, (8, k), elements=st.integers(-2500, 2500)).map(lambda whole: whole / 100)


def context(k, d=5, n=50, seed=0):
    rng = generator("test_defenses", k, d, seed)
    return Context(rng.standard_normal((k, d)), rng.random((n, d)), rng)


def defense(name, **parameters):
    return plugins.create("defense", name, parameters, "vertical")


@every_k
@over(OF_PROBABILITIES)
def test_revealed_scores_are_probabilities_with_the_same_decision(name, parameters, k):
    own, known = defense(name, **parameters), context(k)

    @given(logits(k))
    def holds(z):
        scores = own.reveal(z, known)
        assert scores.shape == z.shape
        assert scores.min() >= 0, f"reveal returned {scores.min():g} as a probability; expected 0 at least"
        assert scores.max() <= 1, f"reveal returned {scores.max():g} as a probability; expected 1 at most"
        assert near(scores.sum(axis=1), 1, atol=1e-12), "reveal returned rows that do not add up to 1"
        assert np.array_equal(scores.argmax(axis=1), z.argmax(axis=1)), f"reveal changed {A_DECISION}"

    holds()


@every_k
@every_setting
def test_published_parameters_have_the_shape_of_the_model(name, parameters, k):
    known = context(k)
    weights, bias = defense(name, **parameters).publish(known.weights, np.ones(k), known)
    assert weights.shape == known.weights.shape
    assert bias.shape == (k,)
    assert np.isfinite(weights).all(), "publish returned weights that are not finite"
    assert np.isfinite(bias).all(), "publish returned a bias that is not finite"


@every_setting
def test_the_generator_decides_all_that_is_random(name, parameters):
    own, runs = defense(name, **parameters), []
    for _ in range(2):
        known, z = context(4), np.arange(12.0).reshape(3, 4) % 5
        with draws_with("context"):
            runs.append([*own.publish(known.weights, np.ones(4), known), own.reveal(z, known)])
    for hook, first, second in zip(("publish", "publish", "reveal"), *runs, strict=True):
        assert np.array_equal(first, second), f"{hook}: {DIFFER.format('trainings', 'the context')}"


@every_setting
def test_a_defense_leaves_what_it_is_given_as_it_is(name, parameters):
    own, known, z, bias = defense(name, **parameters), context(4), np.arange(12.0).reshape(3, 4) % 5, np.ones(4)
    given = {"logits": z, "bias": bias, "weights": known.weights, "features": known.features}
    before = {part: array.copy() for part, array in given.items()}
    for hook, call in (
        ("reveal", lambda: own.reveal(z, known)),
        ("publish", lambda: own.publish(known.weights, bias, known)),
    ):
        call()
        for part, array in given.items():
            assert np.array_equal(array, before[part]), f"{hook} changed the {part} it was given; expected a new array"


@every_k
def test_none_changes_nothing(k):
    known, bias, z = context(k), np.arange(k), generator("none", k).standard_normal((20, k))
    weights, shown = defense("none").publish(known.weights, bias, known)
    np.testing.assert_array_equal(weights, known.weights)
    np.testing.assert_array_equal(shown, bias)
    np.testing.assert_array_equal(defense("none").reveal(z, known), softmax(z))
    assert defense("none").rescaling == (1.0, 0.0)


@every_k
@pytest.mark.parametrize("transform", ["minus_identity", "optimal"])
def test_pps_publishes_the_model_of_the_same_logits_on_transformed_features(transform, k):
    known, bias = context(k), np.arange(k, dtype=float)
    X, own = known.features, defense("pps", transform=transform)
    weights, shown = own.publish(known.weights, bias, known)
    turned = 1 - X
    if transform == "optimal":
        turned = X @ theorem3(known.coefficients, X.T @ X / len(X))["transform"].T
    np.testing.assert_allclose(turned @ weights.T + shown, X @ known.weights.T + bias, atol=1e-12)
    np.testing.assert_array_equal(own.reveal(X @ known.weights.T, known), softmax(X @ known.weights.T))


def test_pps_retrained_rescales_and_publishes_what_it_trained():
    own, known = defense("pps", retrain=True), context(3)
    factor, offset = own.rescaling
    np.testing.assert_array_equal(factor * known.features + offset, 1 - known.features)
    weights, bias = own.publish(known.weights, np.ones(3), known)
    np.testing.assert_array_equal(weights, known.weights)
    np.testing.assert_array_equal(bias, np.ones(3))


def test_pps_at_the_optimum_trains_both_models_to_it_and_others_as_the_setup_says():
    assert defense("pps", retrain="optimum").rescaling == defense("pps", retrain=True).rescaling
    assert defense("pps", retrain="optimum").training == {"optimizer": "newton", "l2": 0.001}
    assert {params()["setups"][f"{name}_l2"]["model"]["l2"] for name in ("bank", "robot", "satellite")} == {0.001}
    for other in (defense("pps", retrain=True), defense("pps"), defense("none")):
        assert not other.training
    with pytest.raises(InputError, match=r"^defense\.pps: retrain = optimum; only with transform"):
        defense("pps", transform="optimal", retrain="optimum")


def test_pps_of_a_run_leaves_every_score_as_it_is(run):
    before, after = (run("three_classes", name).transcripts[""]["scores"] for name in ("none", "pps"))
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("d", [1, 2, 5])
@every_k
def test_the_optimal_transform_hurts_at_least_as_much_as_minus_identity(k, d):
    for seed in range(20):
        known = context(k, d, seed=seed)
        X = known.features
        b = X @ known.coefficients.T

        def error(weights, X=X, b=b):
            return np.mean(np.square(polytope.least_squares(difference_matrix(len(weights)) @ weights, b) - X))

        optimal, _ = defense("pps", transform="optimal").publish(known.weights, np.zeros(k), known)
        np.testing.assert_allclose(optimal @ optimal.T, known.weights @ known.weights.T, atol=1e-10)
        assert error(optimal) >= error(-known.weights) - 1e-12
        assert error(-known.weights) >= error(known.weights) - 1e-12


def centered(array):
    return array - array.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("budget", [budget for scheme, budget in BUDGETS if scheme == 1])
@every_k
def test_scheme_1_spends_the_budget(k, budget):
    known, z = context(k), generator("scheme1", k).standard_normal((50, k))
    v = theorem4(known.coefficients, difference_matrix(k))["direction"]
    asked = np.where(z == z.max(axis=1, keepdims=True), v.max(), v)  # equation 92
    asked *= np.sqrt(budget) / np.linalg.norm(asked, axis=1, keepdims=True)
    scores = defense("score_noise", scheme=1, budget=budget).reveal(z, known)
    np.testing.assert_allclose(np.linalg.norm(asked, axis=1), np.sqrt(budget))
    np.testing.assert_allclose(centered(np.log(scores) - z), centered(asked), atol=1e-10)
    assert np.abs(centered(asked)).max() > 0.01


@pytest.mark.parametrize("budget", [budget for scheme, budget in BUDGETS if scheme == 2])
def test_scheme_2_moves_all_but_the_top_class_by_the_budget(budget):
    known, z = context(4), generator("scheme2").standard_normal((50, 4))
    v = theorem4(known.coefficients, difference_matrix(4))["direction"]
    top = z == z.max(axis=1, keepdims=True)
    scores = defense("score_noise", scheme=2, budget=budget).reveal(z, known)
    moved = (np.log(scores) - z - np.sqrt(budget) * v)[~top].reshape(50, 3)
    np.testing.assert_allclose(centered(moved), 0, atol=1e-10)
    others = np.where(top, -np.inf, np.log(scores)).max(axis=1)
    assert (np.log(scores[top]) - others).min() == pytest.approx(1e-6, rel=1e-3)


@pytest.mark.parametrize("budget", [budget for scheme, budget in BUDGETS if scheme == 3])
@every_k
def test_scheme_3_is_a_temperature(k, budget):
    z = generator("scheme3", k).standard_normal((50, k))
    scores = defense("score_noise", scheme=3, budget=budget).reveal(z, context(k))
    np.testing.assert_allclose(scores, softmax((1 - budget) * z + budget), atol=1e-12)


@every_k
@pytest.mark.parametrize("scheme", [1, 2])
def test_without_a_budget_the_scores_are_the_models(scheme, k):
    z = generator("no budget", k).standard_normal((50, k))
    scores = defense("score_noise", scheme=scheme, budget=0).reveal(z, context(k))
    np.testing.assert_allclose(scores, softmax(z), atol=1e-6 if scheme == 2 else 1e-15)


@every_k
@pytest.mark.parametrize("rest", [1e-3, 1e-6, 1e-9])
def test_class_label_tends_to_the_one_hot_vector(rest, k):
    z = generator("class_label", k).standard_normal((50, k))
    scores = defense("class_label", rest=rest).reveal(z, context(k))
    np.testing.assert_allclose(scores, np.eye(k)[z.argmax(axis=1)], atol=(k - 1) * rest * 1.001)


@pytest.mark.parametrize("name", [name for name in VERTICAL if name != "none"])
def test_a_defense_makes_half_star_err_more(name, run, cases):
    protocol = plugins.create("protocol", "vertical")

    def error(outcome):
        found = []
        for case, seen, rows in cases(outcome):
            J = difference_matrix(seen["scores"].shape[1])
            own = seen["active_features"] @ seen["active_weights"].T + seen["bias"]
            logs = np.log(np.maximum(seen["scores"], np.finfo(float).tiny))
            guess = polytope.half_star(J @ seen["passive_weights"], logs @ J.T - own @ J.T)
            found.append(protocol.leak(guess, outcome.truth, case, rows)["mse"])
        return np.mean(found)

    defended, bare = error(run("three_classes", name)), error(run("three_classes"))
    assert defended > bare, f"half_star errs by {defended:.4g} under it and by {bare:.4g} without; expected more"


@pytest.mark.parametrize(("name", "parameters"), [(n, p) for n, p in OF_PROBABILITIES if not p.get("retrain")])
def test_no_defense_on_the_same_model_changes_a_decision_of_a_run(name, parameters, run):
    utility = run("three_classes", name, **parameters).utility
    changed = [row["value"] for row in utility if row["metric"] == "changed_decisions"]
    assert changed
    assert max(changed) == 0, f"reveal changed {A_DECISION} in {max(changed):.1%} of the rows"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("score_noise", {"budget": -1.0}),
        ("score_noise", {"scheme": 3, "budget": 1.0}),
        ("class_label", {"rest": 0.0}),
        ("class_label", {"rest": 0.5}),
        ("pps", {"transform": "optimal", "retrain": True}),
        ("score_noise", {"budget": float("nan")}),
        ("score_noise", {"budget": float("inf")}),
        ("score_noise", {"scheme": 2, "margin": -1.0}),
        ("class_label", {"rest": float("nan")}),
    ],
)
def test_a_parameter_out_of_range_is_refused_by_name(name, wrong):
    with pytest.raises(ValueError, match=rf"^defense\.{name}: {list(wrong)[-1]} = "):
        defense(name, **wrong)
