"""The tappfl paper's theorems: on random distributions where all is exact, and as measured on representations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy as shannon

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.stages.measures import _held_out, _points
from cutlayer.stages.measures.tappfl import OF_TWO, measure
from cutlayer.stages.theory import Case
from cutlayer.theory.tappfl import (
    conditional_entropy,
    difference,
    err,
    fano,
    theorem1,
    theorem1_any,
    theorem2_corrected,
    theorem2_printed,
    total_variation,
    trend,
)


@st.composite
def joints(draw, most=9):
    """A joint distribution (values of u, values of r), some of it far from uniform, some of it zero."""
    count, signals = draw(st.integers(2, most)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    p = rng.dirichlet(np.full(count * signals, 10 ** rng.uniform(-1.5, 1))).reshape(count, signals)
    p = np.where(p < 1e-9, 0, p) * rng.dirichlet(np.full(count, 10 ** rng.uniform(-1, 1)))[:, None]
    return p / p.sum()


def channel(error, values):
    """A uniform u and a guess that is wrong with probability `error`, all wrong values equally often."""
    wrong = np.full((values, values), error / (values - 1))
    return (wrong + np.diag(np.full(values, 1 - error - wrong[0, 0]))) / values


# Theorem 2.


@given(joints())
def test_conditional_entropy_is_the_mean_over_r_of_the_entropy_of_u(p):
    seen = p[:, p.sum(axis=0) > 0]
    by_hand = sum(column.sum() * shannon(column / column.sum(), base=2) for column in seen.T)
    assert conditional_entropy(p) == pytest.approx(by_hand, abs=1e-9)
    assert conditional_entropy(1000 * p) == pytest.approx(by_hand, abs=1e-9)


@given(joints())
def test_no_adversary_exceeds_the_corrected_bound(p):
    bound = theorem2_corrected(conditional_entropy(p), len(p))
    assert p.max(axis=0).sum() <= bound  # the best one's accuracy


@pytest.mark.parametrize("values", [2, 3, 4, 7, 20])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 1.0])
def test_the_corrected_bound_is_attained_where_all_wrong_values_are_equally_likely(values, share):
    error = share * (1 - 1 / values)
    p = channel(error, values)
    assert conditional_entropy(p) == pytest.approx(fano(error, values), abs=1e-12)
    assert theorem2_corrected(conditional_entropy(p), values) == pytest.approx(p.max(axis=0).sum(), abs=1e-6)


@given(st.integers(1, 2000), st.integers(1, 300))
def test_rounding_does_not_put_the_corrected_bound_below_what_attains_it(wrong, right):
    """A constant guess of two values."""
    counts = np.array([[max(wrong, right), 0.0], [min(wrong, right), 0.0]])
    assert counts.max() / counts.sum() <= theorem2_corrected(conditional_entropy(counts), 2)


@pytest.mark.parametrize("values", [2, 3, 7])
def test_the_corrected_bound_falls_from_certainty_to_chance(values):
    entropies = np.linspace(0, np.log2(values), 50)
    bounds = [theorem2_corrected(entropy, values) for entropy in entropies]
    assert (np.diff(bounds) < 0).all()
    assert bounds[0] == 1
    assert bounds[-1] == pytest.approx(1 / values, abs=1e-6)


@given(joints(most=2))
def test_of_two_values_the_printed_bound_holds_and_is_looser(p):
    """It is Fano's with Calabro's lower bound on the inverse of the binary entropy (lemma 4)."""
    entropy = conditional_entropy(p)
    assert theorem2_corrected(entropy, 2) <= theorem2_printed(entropy) + 1e-9
    assert p.max(axis=0).sum() <= theorem2_printed(entropy) + 1e-9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theorem2_printed(-0.1), r"theory.tappfl: an entropy of -0.1 bits; expected 0 or more, and less"),
        (lambda: theorem2_printed(6.0), r"less than 6"),
        (lambda: theorem2_corrected(1.01, 2), r"an entropy of 1.01 bits; 0 to 1 for 2 values"),
        (lambda: theorem2_corrected(0.0, 1), r"an attribute of 1 values; expected at least 2"),
        (lambda: err(np.ones(3), np.zeros(3)), r"a value of the attribute has no row"),
        (lambda: difference(np.ones(0), np.zeros(0)), r"a value of the attribute has no row"),
        (lambda: trend(np.ones(3), np.arange(3)), r"a line through points of one x"),
    ],
)
def test_what_is_not_defined_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


# Theorem 1. A world is Pr(r | u) (2, R), Pr(y = 1 | u, r) (2, R) and the places of r (R, d).


@st.composite
def worlds(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    signals = draw(st.integers(2, 6))
    given_u = np.stack([rng.dirichlet(np.full(signals, 10 ** rng.uniform(-1, 1))) for _ in range(2)])
    likely = rng.beta(*np.full(2, 10 ** rng.uniform(-1, 0.5)), size=(2, signals))
    return given_u, likely, rng.normal(size=(signals, draw(st.integers(1, 3)))), rng


def steepest(scores, places):
    """The Lipschitz norm of scores (R,) at some places (R, d)."""
    pairs = itertools.combinations(range(len(scores)), 2)
    return max(abs(scores[i] - scores[j]) / np.linalg.norm(places[i] - places[j]) for i, j in pairs)


def expected(losses_if_one, losses_if_zero, given_u, likely):
    """The two conditional mean losses, added."""
    return (given_u * (likely * losses_if_one + (1 - likely) * losses_if_zero)).sum()


@given(worlds())
def test_the_worst_adversary_has_the_total_variation_as_its_advantage(world):
    given_u, *_ = world
    events = itertools.product([0, 1], repeat=given_u.shape[1])
    worst = max(abs((given_u[0] - given_u[1]) @ np.array(event)) for event in events)
    assert total_variation(*given_u) == pytest.approx(worst, abs=1e-12)


@given(worlds())
def test_no_probability_has_less_error_or_cross_entropy_than_theorem_1_says(world):
    given_u, likely, places, rng = world
    for _ in range(5):
        c = rng.beta(0.5, 0.5, size=given_u.shape[1]).clip(1e-9, 1 - 1e-9)
        delta = abs(np.diff((given_u * likely).sum(axis=1)).item())
        advantage, radius = total_variation(*given_u), np.linalg.norm(places, axis=1).max()
        absolute = expected(1 - c, c, given_u, likely)
        nats = expected(-np.log(c), -np.log(1 - c), given_u, likely)
        bound = max(theorem1(delta, advantage, radius, steepest(c, places)), theorem1_any(delta, advantage))
        assert absolute >= bound - 1e-9
        assert nats >= absolute - 1e-9


@given(worlds())
def test_no_classifier_errs_less_than_theorem_1_says_and_its_lipschitz_norm_does_not_help(world):
    given_u, likely, places, _ = world
    delta = abs(np.diff((given_u * likely).sum(axis=1)).item())
    advantage, radius = total_variation(*given_u), np.linalg.norm(places, axis=1).max()
    for decisions in itertools.product([0, 1], repeat=given_u.shape[1]):
        c = np.array(decisions)
        assert expected(1 - c, c, given_u, likely) >= theorem1_any(delta, advantage) - 1e-9
        if 0 < c.sum() < len(c):
            printed = theorem1(delta, advantage, radius, steepest(c, places))
            assert printed <= theorem1_any(delta, advantage) + 1e-9


def test_difference_and_err_are_of_conditional_means():
    attribute, bits = np.array([0, 0, 0, 0, 1, 1]), np.array([1, 1, 1, 0, 0, 1])
    assert difference(bits, attribute) == 0.25
    assert err(bits, attribute) == 1.25


def test_the_trend_is_the_polynomial_of_degree_one():
    x, y = np.array([0, 0.25, 0.5, 0.75, 1.0]), generator("trend").normal(size=5)
    np.testing.assert_allclose(trend(x, y), np.polyfit(x, y, 1), rtol=1e-10)


# As measured.


def made(leak, values=2, classes=2, known=400, attacked=300, shape=(6,)):
    """What a run shows and what is true: representations whose first coordinate is `leak` apart between values."""
    rng = generator("representations", leak, values, classes)
    attribute, labels = rng.integers(values, size=known + attacked), rng.integers(classes, size=known + attacked)
    r = rng.normal(size=(known + attacked, *shape)).astype(np.float32)
    r.reshape(len(r), -1)[:, 0] += leak * attribute
    inputs = rng.normal(size=(known + attacked, 5)) * 10.0 ** np.arange(5)
    seen = {"known": r[:known], "known_attribute": attribute[:known], "attacked": r[known:], "values": np.array(values)}
    truth = {"attribute": attribute[known:], "labels": labels[known:], "known_labels": labels[:known]}
    return seen, truth | {"attacked_inputs": inputs[known:]}


def case(setting="weight=0.5", seed=0):
    return Case("tappfl", "adult_gender", "tappfl", setting, seed)


def found(*of, **options):
    rows = list(measure(*of, case(**options)))
    return {row["metric"]: row["value"] for row in rows if "point" not in row}


def test_what_tells_all_leaves_nothing_to_be_told():
    rows = found(*made(30.0))
    assert rows["conditional_entropy"] < 0.05
    assert rows["accuracy"] == rows["accuracy_best"] == rows["advantage"] == 1
    assert rows["entropy_given_guess"] == 0
    assert rows["theorem2_bound_corrected"] > 0.99


def test_what_tells_nothing_leaves_the_whole_attribute():
    rows = found(*made(0.0))
    assert rows["conditional_entropy"] > 0.97
    assert rows["theorem2_bound_corrected"] < 0.61
    assert rows["advantage"] < 0.25
    assert found(*made(0.0, values=7))["conditional_entropy"] > 0.97 * np.log2(7)


def true_entropy(leak):
    """H(u | r) of two values whose representations are normal, `leak` apart."""
    z = np.linspace(-12, 12 + leak, 100_001)
    density = np.exp(-0.5 * np.stack([z, z - leak]) ** 2) / np.sqrt(8 * np.pi)
    return conditional_entropy(density)


@pytest.mark.parametrize("leak", [0.5, 1.5, 3.0])
def test_the_estimated_entropy_is_above_the_true_one_and_near(leak):
    """Above but for the chance of 3,000 rows: three standard errors of a mean of at most some bits each."""
    seen, truth = made(leak, known=2000, attacked=3000)
    (best, *_) = _held_out.retrained(seen["known"], seen["known_attribute"], seen["attacked"], 2, generator("best"))
    lost = -np.log2(best[np.arange(3000), truth["attribute"]])
    assert true_entropy(leak) - 3 * lost.std() / np.sqrt(3000) < lost.mean() < true_entropy(leak) + 0.1


def test_adversaries_are_ordered_by_rows_that_are_not_attacked():
    seen, _ = made(1.0)
    told = [
        _held_out.retrained(seen["known"], seen["known_attribute"], attacked, 2, generator("order"))
        for attacked in (seen["attacked"], seen["attacked"][::-1])
    ]
    for one, other in zip(*told, strict=True):
        np.testing.assert_allclose(one, other[::-1], atol=1e-12)
    assert any(np.ptp(probabilities, axis=0).max() < 1e-12 for probabilities in told[0])  # that of the rates alone


@pytest.mark.parametrize("leak", [0.0, 0.7, 2.0])
@pytest.mark.parametrize("values", [2, 7])
def test_what_is_exact_holds_exactly(leak, values):
    rows = found(*made(leak, values=values))
    assert rows["accuracy"] <= rows["theorem2_bound_corrected_of_guess"]
    if values == 2:
        assert rows["theorem1_error"] >= rows["theorem1_bound_any"] - 1e-12
        assert rows["theorem1_bound"] == pytest.approx(
            rows["delta_y_given_u"] - 2 * rows["radius"] * rows["lipschitz"] * rows["advantage"]
        )


def test_theorem_1_is_left_out_where_it_does_not_speak():
    for options in ({"values": 7}, {"classes": 3}):
        rows = list(measure(*made(1.0, **options), case()))
        skipped = {row["metric"]: row["skipped"] for row in rows if "skipped" in row}
        assert set(skipped) == set(OF_TWO)
        numbers = (options.get("values", 2), options.get("classes", 2))
        assert set(skipped.values()) == {
            "for an attribute of 2 values and a task of 2 classes, here they have {} and {}".format(*numbers)
        }
    seen, truth = made(1.0)
    rows = list(measure(seen, truth | {"attribute": np.zeros(300, dtype=int)}, case()))
    assert {row.get("skipped", "") for row in rows} == {"", "for rows with both values and both classes"}


def test_the_measured_lipschitz_norm_is_that_of_the_classifier():
    from cutlayer.stages.measures.tappfl import _classifier

    seen, truth = made(1.0)
    truth["labels"], truth["known_labels"] = (seen[name][:, 0] > 0.5 for name in ("attacked", "known"))
    steps = seen["attacked"][0] + np.linspace(-4, 4, 2001)[:, None] * np.eye(6)[0]
    probabilities, norm = _classifier(seen | {"attacked": steps}, truth)
    slope = np.abs(np.diff(probabilities)).max() / (8 / 2000)
    assert slope <= norm + 1e-9
    assert slope > 0.95 * norm  # nearly all of it is along the first coordinate


def test_images_and_rare_values_are_measured_too():
    seen, truth = made(1.0, values=3, known=60, attacked=20, shape=(2, 4, 4))
    seen["known_attribute"] = np.where(seen["known_attribute"] == 2, 1, seen["known_attribute"])  # 2 is never known
    rows = found(seen, truth)
    assert np.isfinite([value for value in rows.values() if value is not None]).all()
    alone = found(seen | {"known_attribute": np.ones(60, dtype=int)}, truth)
    assert alone["accuracy"] == np.mean(truth["attribute"] == 1)


# The points of figure 3.


@pytest.mark.parametrize("setting", _points.SETTINGS)
def test_points_are_attacked_rows_in_both_planes_with_their_attribute(setting):
    seen, truth = made(20.0, known=60)
    rows = list(_points.points(seen, truth, case(setting)))
    names = ("input_x", "input_y", "representation_x", "representation_y", "value")
    table = np.array([[row["value"] for row in rows if row["metric"] == name] for name in names])
    assert table.shape == (5, _points.POINTS)
    assert [row["point"] for row in rows] == [*range(_points.POINTS)] * 5
    assert rows == list(_points.points(seen, truth, case(setting)))
    assert set(table[4]) == {0, 1}
    purity = [_nearest(plane, table[4]) for plane in (table[:2].T, table[2:4].T)]
    assert purity[0] < 0.7
    assert purity[1] > 0.95  # what tells the values apart stays apart


def _nearest(plane, values):
    """How often a point's nearest neighbor has its value."""
    apart = np.linalg.norm(plane[:, None] - plane[None], axis=2) + np.diag(np.full(len(plane), np.inf))
    return np.mean(values[apart.argmin(axis=1)] == values)


def test_points_are_of_one_seed_and_of_the_settings_that_the_figure_shows():
    seen, truth = made(1.0)
    for other in ({"setting": "weight=0.5"}, {"setting": "", "seed": 1}):
        assert not [row for row in measure(seen, truth, case(**other)) if "point" in row]


def test_representations_that_are_all_the_same_lie_in_one_point():
    seen, truth = made(1.0, attacked=20)
    rows = list(_points.points(seen | {"attacked": np.ones((20, 6), dtype=np.float32)}, truth, case("")))
    assert {row["value"] for row in rows if row["metric"].startswith("representation")} == {0}
    assert np.isfinite([row["value"] for row in rows]).all()
