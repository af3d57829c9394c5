"""The attacks on labels: by hand on a few rows, and on small trainings that nothing protects."""

from __future__ import annotations

import copy
import csv

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.params import params

from cutlayer.core import artifacts, transcript
from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View, of_setting
from cutlayer.games.base import encoded
from cutlayer.games.base.attack import guessed
from cutlayer.games.base.snapshot import flattened, rebuilt
from cutlayer.games.split.attacks import (
    _completion,
    _principal,
    clusters,
    direction,
    direction_known_positive,
    guess_k,
    hint,
    model_completion,
    norm,
    off_axis,
    spectral,
)
from cutlayer.metrics.leakage import leak_auc
from cutlayer.plan import plugins
from cutlayer.stages import scores

SPLIT = plugins.create("protocol", "split")
VARIANTS = params()["attacks"]
# Attacks on labels that read what comes back; the embeddings of a bottom model that learns nothing are no such thing.
GIVEN_BACK = [
    name
    for name, variant in VARIANTS.items()
    if "split" in plugins.games("attack", variant["use"])
    and plugins.method("attack", variant["use"]).constants["target"] in ("labels", "watched")
    and variant.get("source") != "embeddings"
    and "bottom" not in plugins.method("attack", variant["use"]).constants["sees"]
]
floats = pytest.mark.parametrize("kind", [np.float32, np.float64])
G = np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 0.0], [6.0, 8.0], [0.0, 2.0]])
SCORES = {
    "norm": norm.score,
    "direction": direction.score,
    "direction_known_positive": lambda rows: direction_known_positive.score(rows, 0),
    "inner": lambda rows: hint.score(rows, np.array([0]), "inner"),
    "cosine": lambda rows: hint.score(rows, np.array([0]), "cosine"),
    "longest": lambda rows: hint.score(rows, np.array([0]), "longest"),
    "distance": lambda rows: hint.score(rows, np.array([0]), "distance"),
    "spectral": spectral.score,
    "first_axis": _principal.skewed,
    "off_axis": off_axis.score,
    "off_axis_five": lambda rows: off_axis.score(rows, out=5),
    "clusters": lambda rows: clusters.score(rows, 2),
}
every_score = pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)


def opposite(rows=100, share=0.25, d=8, noise=0.1):
    """Two opposite clusters, shuffled, `share` of the rows in the first: rows (B, d) and labels (B,)."""
    rng = generator("opposite clusters", rows, share)
    labels = rng.permutation(np.arange(rows) < share * rows).astype(int)
    center = rng.standard_normal(d)
    return np.where(labels[:, None] == 1, 3 * center, -center) + noise * rng.standard_normal((rows, d)), labels


# By hand.


@floats
def test_norm_is_the_length_of_each_row(kind):
    np.testing.assert_allclose(norm.score(G.astype(kind)), [5, 0, 1, 10, 2])


@floats
def test_direction_is_minus_the_share_of_the_others_on_the_same_side(kind):
    # Of the other four rows the first agrees with two (6, 8) and (0, 2); the zero row agrees with none.
    np.testing.assert_allclose(direction.score(G.astype(kind)), [-2 / 4, 0, 0, -2 / 4, -2 / 4])


def test_the_vote_is_negative_where_more_than_half_of_the_others_agree():
    rows = np.array([[1.0], [2.0], [3.0], [4.0], [-1.0]])
    np.testing.assert_allclose(direction.score(rows), [-3 / 4] * 4 + [0])
    np.testing.assert_array_equal(direction.vote(direction.score(rows)), [0, 0, 0, 0, 1])
    np.testing.assert_array_equal(direction.vote(np.array([-0.5])), [1])  # half is not most


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-70, 1, 2.0**70, 2.0**1000])  # these round nothing
def test_neither_orthogonal_rows_nor_their_scale_disturb_a_direction(scale):
    rows = np.array([[1.0, 2, 3], [3, 0, -1], [3, -3, 1], [1, 1, 1], [0, 0, 0]])
    np.testing.assert_array_equal(direction.score(rows * scale), [-1 / 4, -2 / 4, -2 / 4, -3 / 4, 0])


def test_many_rows_are_compared_in_parts_with_the_same_result(monkeypatch):
    rows, _ = opposite()
    whole = direction.score(rows)
    monkeypatch.setattr(direction, "ROWS", 7)
    np.testing.assert_array_equal(direction.score(rows), whole)


@floats
def test_the_cosine_with_a_known_positive(kind):
    found = direction_known_positive.score(G.astype(kind), 0)
    np.testing.assert_allclose(found, [1, 0, -3 / 5, 1, 4 / 5], atol=1e-15)
    np.testing.assert_array_equal(direction_known_positive.score(G.astype(kind), 1), 0)


@floats
@pytest.mark.parametrize("hints", [np.array([2, 4]), G[[2, 4]]], ids=["places", "gradients"])
@pytest.mark.parametrize(
    ("kind_of_hint", "expected"),
    [
        ("inner", [8, 0, 1, 16, 4]),  # with (-1, 0): -3 0 1 -6 0; with (0, 2): 8 0 0 16 4
        ("cosine", [4 / 5, 0, 1, 4 / 5, 1]),  # with (-1, 0): -3/5 0 1 -3/5 0; with (0, 2): 4/5 0 0 4/5 1
        ("longest", [8, 0, 0, 16, 4]),
        ("distance", -np.sqrt([13, 1, 0, 72, 0])),
    ],
)
def test_each_kind_of_hint(kind, hints, kind_of_hint, expected):
    hints = hints.astype(kind) if hints.ndim == 2 else hints
    np.testing.assert_allclose(hint.score(G.astype(kind), hints, kind_of_hint), expected)


@pytest.mark.parametrize(
    ("hints", "kind", "message"),
    [
        (np.zeros(2), "inner", r"the hints have the shape \(2,\) and the type float64"),
        (np.zeros((1, 3)), "inner", r"the hints have the shape \(1, 3\)"),
        (np.zeros(0, dtype=int), "inner", r"the hints have the shape \(0,\)"),
        (np.array([0]), "nearest", "kind = 'nearest'; allowed: 'inner', 'cosine', 'longest', 'distance'"),
    ],
)
def test_hints_that_are_none_are_refused(hints, kind, message):
    with pytest.raises(InputError, match=rf"^attack\.hint: {message}"):
        hint.score(G, hints, kind)


@floats
def test_spectral_projects_on_the_direction_of_most_variance(kind):
    # Centered, these rows lie on (3, -4) / 5, at -10, 5 and 5; its larger entry, the second, is made positive.
    rows = np.array([[7.0, -8], [-2, 4], [-2, 4]], dtype=kind) + 100
    np.testing.assert_allclose(spectral.score(rows), [-10, 5, 5], rtol=1e-6)


def test_the_sign_of_the_spectral_direction_is_that_of_its_largest_entry():
    for seed in range(20):
        rows = generator("sign", seed).standard_normal((9, 4))
        direction_ = (rows - rows.mean(axis=0)).T @ spectral.score(rows)
        assert direction_[np.abs(direction_).argmax()] > 0


def test_spectral_s_guesses_are_the_square_the_projection_and_its_clusters():
    rows, _ = opposite()
    for on, other in (("gradients", "embeddings"), ("embeddings", "gradients")):
        method = plugins.create("attack", "spectral", {"source": on})
        guess = method.infer(view_of(method, "spectral", {on: rows, other: rows[::-1]}))
        signed = spectral.score(rows)
        np.testing.assert_equal(guess, {"": signed**2, "signed": signed, "clusters": spectral.two_means(signed)})


def test_spectral_finds_a_planted_direction():
    rng = generator("planted")
    direction_, place = rng.standard_normal(20), 10 * rng.standard_normal(200)
    direction_ /= np.linalg.norm(direction_)
    found = spectral.score(np.outer(place, direction_) + 0.1 * rng.standard_normal((200, 20)) + 7)
    centered = place - place.mean()
    # Noise of 0.1 moves a projection by that much, and the direction by far less.
    np.testing.assert_allclose(found * np.sign(found @ centered), centered, atol=0.6)


@every_score
@floats
def test_zero_rows_one_row_and_equal_rows_have_finite_scores(score, kind):
    for rows in (np.zeros((4, 3)), np.full((1, 3), 0.1), np.full((7, 3), 0.1), np.zeros((1, 1)), G):
        found = score(rows.astype(kind))
        assert found.shape == (len(rows),)
        assert np.isfinite(found).all()
        assert len(np.unique(found)) == 1 or rows is G


@every_score
def test_a_score_leaves_the_gradients_as_they_are_and_follows_their_order(score):
    rows, _ = opposite()
    before, order = rows.copy(), np.concatenate([[0], 1 + generator("order").permutation(len(rows) - 1)])
    found = score(rows)
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_allclose(score(rows[order]), found[order], rtol=1e-9)


def test_equal_rows_have_no_direction_of_variance():
    for rows in (np.full((3, 2), 0.1), np.full((1, 5), 7.0), np.zeros((4, 4)), np.full((1000, 3), 1 / 3)):
        np.testing.assert_array_equal(spectral.score(rows), 0)


def deviation(x, labels):
    return sum(np.square(x[labels == c] - x[labels == c].mean()).sum() for c in np.unique(labels))


@given(arrays(float, st.integers(2, 9), elements=st.integers(-20, 20).map(float)))
def test_two_means_is_as_good_as_the_best_of_all_labelings(x):
    labels = spectral.two_means(x)
    everything = np.indices((2,) * len(x)).reshape(len(x), -1).T
    assert deviation(x, labels) == pytest.approx(min(deviation(x, other) for other in everything), abs=1e-9)
    assert labels.sum() <= len(x) / 2
    assert all(len(set(labels[x == value])) == 1 for value in np.unique(x))
    assert (labels.sum() == 0) == (len(np.unique(x)) == 1)


def test_two_means_of_one_number_is_one_cluster():
    np.testing.assert_array_equal(spectral.two_means(np.array([3.0])), [0])
    np.testing.assert_array_equal(spectral.two_means(1e-200 * np.array([0.0, 1, 9, 10, 1])), [0, 0, 1, 1, 0])


# Two classes that point opposite ways.


def test_opposite_clusters_are_told_apart_by_direction():
    rows, labels = opposite(share=0.25)
    assert leak_auc(direction.score(rows), labels) == 1
    np.testing.assert_array_equal(direction.vote(direction.score(rows)), labels)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_opposite_clusters_are_told_apart_by_whoever_knows_positives_however_many_there_are(share):
    rows, labels = opposite(share=share)
    known = np.flatnonzero(labels)[:5]
    rest = np.setdiff1d(np.arange(len(rows)), known)
    for kind in hint.KINDS:
        assert leak_auc(hint.score(rows, known, kind)[rest], labels[rest]) == 1
    assert leak_auc(direction_known_positive.score(rows, known[0])[rest], labels[rest]) == 1


def test_opposite_clusters_are_told_apart_by_the_spectral_attack():
    rows, labels = opposite(share=0.25)
    signed = spectral.score(rows)
    assert max(leak_auc(signed, labels), leak_auc(-signed, labels)) == 1
    np.testing.assert_array_equal(spectral.two_means(signed), labels)


@pytest.mark.parametrize("share", [0.1, 0.25])
@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_the_first_axis_tells_opposite_clusters_apart_and_takes_the_rarer_for_positive(share, noise):
    for rows, labels in (opposite(400, share, noise=noise), opposite(400, 1 - share, noise=noise)):
        assert leak_auc(_principal.skewed(rows), labels == (labels.mean() < 0.5)) > 0.99
    np.testing.assert_array_equal(_principal.skewed(1e-200 * rows) > 0, _principal.skewed(rows) > 0)


# How many classes.


@pytest.mark.parametrize("classes", [2, 3, 8, 20])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_as_many_classes_are_guessed_as_there_are_well_separated_clusters(classes, kind):
    rng = generator("clusters", classes)
    centers = 1e-4 * rng.standard_normal((classes, 32))
    rows = (centers[rng.integers(classes, size=256)] + 1e-6 * rng.standard_normal((256, 32))).astype(kind)
    assert guess_k.clusters(rows, 40, 1, generator("guess")) == classes


@pytest.mark.parametrize(
    "rows", [np.zeros((9, 4)), np.ones((1, 4)), np.eye(4)[[0, 1, 1, 0]], np.repeat(np.eye(4), 3, axis=0)]
)
def test_no_more_classes_are_guessed_than_gradients_allow(rows):
    assert 2 <= guess_k.clusters(rows, 40, 1, generator("guess")) <= max(2, len(np.unique(rows, axis=0)) - 1)


def test_no_more_classes_are_guessed_than_asked_for():
    rows = generator("line").standard_normal((60, 1))
    assert guess_k.clusters(rows, 3, 1, generator("guess")) in (2, 3)


@pytest.mark.parametrize("classes", [2, 3, 8])
def test_the_paper_s_range_of_classes_ends_at_twice_their_number(classes):
    gradients = generator("line", classes).standard_normal((200, 1))
    seen = {"gradients": gradients, "outputs": np.array(classes)}
    attack = plugins.create("attack", "guess_k_twice", {"starts": 1})
    guess = int(attack.infer(View("guess_k_twice", attack.sees, seen, generator("guess"))))
    assert guess == guess_k.clusters(gradients, 2 * classes, 1, generator("guess")) <= 2 * classes


# On trainings.


def view_of(method, name, seen, seed=0):
    return View(name, method.sees, seen, generator("test_label_attacks", name, seed))


@pytest.fixture(scope="module")
def attacked(split_run, split_cases):
    """`attacked(setup, name, **parameters)`: metric -> its values over the cases of an undefended run."""

    def all_of(setup, name, **parameters):
        method, outcome = plugins.create("attack", name, parameters), split_run(setup)
        found = {}
        for case, seen, rows in split_cases(outcome, method.target):
            view = view_of(method, name, seen, case["step"])
            if not method.skip(view):
                spec, truth = SPLIT.guess_spec(seen, method.target), of_setting(outcome.truth, "")
                for kind, one in guessed(method, view, spec).items():
                    for metric, value in SPLIT.leak(one, truth, case, rows, spec.given_to(method)).items():
                        found.setdefault(f"{metric}_{kind}" if kind else metric, []).append(value)
        return found

    return all_of


def test_the_norm_tells_labels_of_an_imbalanced_training(attacked):
    assert np.median(attacked("clicks", "norm")["leak_auc"]) > 0.8


def test_the_norm_tells_labels_at_the_first_layer_too(attacked):
    assert np.median(attacked("clicks", "norm", at="first_layer")["leak_auc"]) > 0.7


def test_the_first_layer_s_norms_are_those_of_its_own_gradients(split_run, split_cases):
    method = plugins.create("attack", "norm", {"at": "first_layer"})
    _, seen, _ = split_cases(split_run("clicks"), "labels")[0]
    np.testing.assert_allclose(
        method.infer(view_of(method, "norm", seen)), np.sqrt(np.square(np.float64(seen["first_gradients"])).sum(axis=1))
    )
    without = {name: value for name, value in seen.items() if name != "first_gradients"}
    assert "here only those at the cut are" in method.skip(view_of(method, "norm", without))
    assert not plugins.create("attack", "norm").skip(view_of(method, "norm", without))


@pytest.mark.parametrize("setup", ["clicks", "balanced"])
@pytest.mark.parametrize("kind", hint.KINDS)
def test_hints_tell_the_labels_of_an_undefended_training(setup, kind, attacked):
    assert np.median(attacked(setup, "hint", kind=kind, hints=1)["leak_auc"]) > 0.95


def test_a_known_direction_tells_the_labels_of_an_undefended_training(attacked):
    for setup in ("clicks", "balanced"):
        assert np.median(attacked(setup, "direction_known_positive")["leak_auc"]) > 0.95
    found = attacked("clicks", "direction")
    assert np.median(found["leak_auc"]) > 0.95
    assert np.median(found["leak_auc_vote"]) > 0.95


def test_the_gradients_of_an_undefended_training_have_two_groups(attacked):
    found = attacked("clicks", "spectral")
    assert np.mean(np.abs(np.array(found["leak_auc_signed"]) - 0.5)) > 0.4
    assert np.mean(found["leak_auc"]) > 0.8


@pytest.mark.parametrize("hints", [1, 3, 5])
def test_hints_are_not_guessed_and_batches_with_fewer_are_skipped(hints, split_run, split_cases):
    method = plugins.create("attack", "hint", {"hints": hints})
    applied = 0
    for _, seen, _ in split_cases(split_run("clicks"), "labels"):
        view = view_of(method, "hint", seen)
        assert bool(method.skip(view)) == (len(seen["hints"]) < hints)
        if not method.skip(view):
            applied += 1
            np.testing.assert_array_equal(np.flatnonzero(np.isnan(method.infer(view))), np.sort(seen["hints"][:hints]))
    assert applied


def test_the_known_positive_is_not_guessed_and_needs_to_be_there(split_run, split_cases):
    method = plugins.create("attack", "direction_known_positive")
    _, seen, _ = split_cases(split_run("clicks"), "labels")[0]
    assert np.flatnonzero(np.isnan(method.infer(view_of(method, "d", seen)))).tolist() == [seen["hints"][0]]
    assert "here there is none" in method.skip(view_of(method, "d", seen | {"hints": seen["hints"][:0]}))


@pytest.mark.parametrize(
    ("name", "own", "metrics"),
    [
        ("norm", {"at": "first_layer"}, {"leak_auc", "leak_auc_mean", "leak_gap_q95", "chance_floor"}),
        ("direction", {}, {"leak_auc_vote", "attack_utility", "attack_utility_vote"}),
        ("direction_known_positive", {}, {"one_class_batches"}),
        ("hint", {}, {"attack_utility_symmetrized"}),
        ("spectral", {}, {"leak_auc_mean_signed", "leak_auc_mean_clusters"}),
        ("first_axis", {}, {"leak_auc_mean"}),
        ("off_axis", {}, {"leak_auc_mean", "leak_gap_q95"}),
        ("clusters_without_k", {}, {"leak_auc_mean"}),
        ("drawn_and_norm", {}, {"leak_auc", "leak_auc_mean"}),
        ("clusters", {}, {"leak_auc_mean"}),
        ("repeated", {"features": True}, {"leak_auc", "leak_gap_mean", "chance_floor"}),
        ("clusters_watched", {}, {"leak_auc_mean"}),
        ("guess_k", {"most": 4}, {"guessed", "hit"}),
        ("guess_k_twice", {}, {"guessed", "hit"}),
        ("model_completion", {"epochs": 2, "steps": 5}, {"attack_utility", "attack_utility_oracle", "attack_accuracy"}),
    ],
)
def test_a_run_read_back_from_disk_gives_the_scores_of_the_run_itself(
    name, own, metrics, attacked, split_run, tmp_path
):
    outcome, files = split_run("clicks"), [tmp_path / part for part in ("transcript", "truth", "scores.csv")]
    transcript.save(files[0], outcome.transcripts, outcome.shared)
    artifacts.write_arrays(files[1], outcome.truth)
    assert not scores.score(
        "clicks", "none", "split", {name: {"use": name} | own}, files[:1], files[1:2], [0], files[2:]
    )
    with files[2].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert metrics <= {row["metric"] for row in rows}
    if name not in ("guess_k", "guess_k_twice", "model_completion"):  # they draw numbers, by the run's name
        for metric, values in attacked("clicks", name, **own).items():
            found = [row for row in rows if row["metric"] == metric]
            assert [float(row["value"]) for row in found[: len(values)]] == values
            assert [row["step"] for row in found[len(values) :]] in ([], ["0"])  # what follows is over all batches


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_what_one_attack_writes_all_the_same_the_next_does_not_see(split_run, tmp_path, monkeypatch):
    outcome, files = split_run("clicks"), [tmp_path / part for part in ("transcript", "truth")]
    transcript.save(files[0], outcome.transcripts, outcome.shared)
    artifacts.write_arrays(files[1], outcome.truth)

    def scribbled(method, view):
        torch.from_numpy(view.gradients).zero_()  # torch goes through numpy's flag
        assert not view.gradients.any()
        return np.zeros(len(view.gradients))

    monkeypatch.setattr(type(plugins.create("attack", "off_axis")), "infer", scribbled)
    found = {}
    for names in (["norm"], ["off_axis", "norm"]):
        attacks, tables = {name: {"use": name} for name in names}, [tmp_path / f"{name}.csv" for name in names]
        assert not scores.score("clicks", "none", "split", attacks, files[:1], files[1:], [0], tables)
        found[len(names)] = tables[-1].read_text()
    assert found[1] == found[2]
    assert "leak_auc" in found[1]


# Model completion.

RECIPE = {"epochs": 3, "steps": 70}


@pytest.fixture(scope="module")
def completed(split_run, split_cases):
    """`completed(setup, bottom=..., **parameters)`: metrics of an attack on an undefended run, or another bottom."""

    def each(setup, bottom=None, seed=0, **parameters):
        method, outcome = plugins.create("attack", "model_completion", RECIPE | parameters), split_run(setup)
        ((case, seen, rows),) = split_cases(outcome, "population")
        seen = seen if bottom is None else seen | {"bottom": bottom(seen)}
        guess = method.infer(view_of(method, "model_completion", seen, seed))
        return SPLIT.leak(guess, of_setting(outcome.truth, ""), case, rows)

    return each


def untrained(seen):
    """The parameters of another bottom of the same architecture, as they are before training."""
    model, inputs, _ = rebuilt(seen["architecture"], seen["bottom"])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return flattened(model.bottom(inputs))


def test_model_completion_beats_chance_and_does_better_on_a_trained_bottom(completed):
    trained = np.mean([completed("images", seed=seed)["attack_accuracy"] for seed in range(3)])
    random = np.mean([completed("images", untrained, seed)["attack_accuracy"] for seed in range(3)])
    majority = completed("images")["majority"]
    assert trained > random > 0
    assert trained > majority + 0.3


@pytest.mark.parametrize("setup", ["clicks", "balanced"])
def test_model_completion_tells_two_classes_apart(setup, completed):
    found = completed(setup)
    assert found["attack_utility"] > 0.8
    assert found["attack_utility_oracle"] >= found["attack_utility"]


def test_a_deeper_head_and_no_unlabeled_loss_work_too(completed):
    assert completed("balanced", layers=3, unlabeled_weight=0.0)["attack_utility"] > 0.8


def test_known_labels_are_what_model_completion_learns_from(split_run, split_cases):
    method = plugins.create("attack", "model_completion", RECIPE)
    _, seen, rows = split_cases(split_run("balanced"), "population")[0]
    truth = of_setting(split_run("balanced").truth, "")
    swapped = seen | {"known_labels": 1 - seen["known_labels"]}
    found = SPLIT.leak(method.infer(view_of(method, "model_completion", swapped)), truth, {}, rows)
    assert found["attack_utility"] < 0.2


def test_completion_starts_from_the_trained_bottom_and_leaves_torch_s_generator_alone(split_run, split_cases):
    method = plugins.create("attack", "model_completion", {"epochs": 1, "steps": 1, "rate": 0.0})
    _, seen, _ = split_cases(split_run("clicks"), "population")[0]
    before = torch.random.get_rng_state()
    guess = method.infer(view_of(method, "model_completion", seen))[0]
    assert torch.equal(torch.random.get_rng_state(), before)
    # Without a step the logits are a linear function of the embeddings: adding these explains them whole.
    model, inputs, bottom = rebuilt(seen["architecture"], seen["bottom"])
    with torch.no_grad():
        embedded = bottom(model.encode(seen["features"][seen["attacked"]], inputs))[1].numpy()
    logits, known = np.log(guess[:, 1] / guess[:, 0]), np.hstack([embedded, np.ones((len(embedded), 1))])
    np.testing.assert_allclose(known @ np.linalg.lstsq(known, logits)[0], logits, atol=1e-4)


def test_the_unlabeled_are_neither_known_nor_attacked_and_count_more_and_more(split_run, split_cases, monkeypatch):
    method = plugins.create("attack", "model_completion", {"epochs": 2, "steps": 20, "unlabeled_weight": 8.0})
    _, seen, _ = split_cases(split_run("clicks"), "population")[0]
    taken, weights, decays = [], [], []

    def take(features, places):
        taken.append(places)
        return encoded.take(features, places)

    def mixmatch(model, x, target, weight, *more):
        weights.append(weight)
        return _completion.mixmatch(model, x, target, weight, *more)

    def update_average(average, model, decay):
        decays.append(decay)
        assert average is not model
        before, now = ([p.detach().clone() for p in m.parameters()] for m in (average, model))
        _completion.update_average(average, model, decay)
        for old, new, after in zip(before, now, average.parameters(), strict=True):
            torch.testing.assert_close(after.detach(), decay * old + (1 - decay) * new)

    for name, spy in (("take", take), ("mixmatch", mixmatch), ("update_average", update_average)):
        monkeypatch.setattr(model_completion, name, spy)
    method.infer(view_of(method, "model_completion", seen))
    np.testing.assert_allclose(weights, 8 * np.arange(1, 41) / 40)
    np.testing.assert_allclose(decays, [(1 + t) / (10 + t) for t in range(1, 41)])
    labeled, unlabeled = (set(np.concatenate([t[part] for t in taken])) for part in (slice(16), slice(16, None)))
    assert labeled == set(seen["known"])
    assert unlabeled == set(range(len(seen["features"]))) - labeled - set(seen["attacked"])


class Line(torch.nn.Module):
    """A bottom for tests: the embedding is the input itself."""

    def forward(self, x):
        return x["x"], x["x"]


def small(rows=6, codes=False, batch=False):
    rng = generator("small")
    x = {"x": torch.from_numpy(rng.random((rows, 2), dtype=np.float32))}
    x |= {"codes": torch.zeros(rows, int(codes), dtype=torch.int64)}
    return _completion.Completed(Line(), x, np.arange(rows), 2, 1, batch, rng), x


def test_mixup_takes_the_share_of_each_row_and_the_rest_of_its_partner():
    rows, partner = torch.tensor([[1.0, 2.0], [5.0, 6.0], [0.0, 0.0]]), torch.tensor([1, 0, 2])
    mixed = _completion.mix(rows, partner, 0.75)
    torch.testing.assert_close(mixed, torch.tensor([[2.0, 3.0], [4.0, 5.0], [0.0, 0.0]]))


@pytest.mark.parametrize("batch", [False, True])
def test_the_loss_is_that_of_mixmatch(batch):
    model, x = small(batch=batch)
    target = torch.eye(2)[[0, 1]]
    found = _completion.mixmatch(model, x, target, 7.0, 0.5, 0.75, generator("mixmatch"))
    rng = generator("mixmatch")
    partner, share = rng.permutation(6), rng.beta(0.75, 0.75)
    share = max(share, 1 - share)
    weights, bias = (p.detach().double().numpy() for p in model.head[-1].parameters())

    def softmax(rows):
        normal = rows if batch else x["x"].double().numpy()  # what normalizes: these rows, or all
        z = (rows - normal.mean(0)) / np.sqrt(normal.var(0) + 1e-5)
        e = np.exp((np.maximum(z, 0) if batch else z) @ weights.T + bias)
        return e / e.sum(axis=1, keepdims=True)

    plain = x["x"].double().numpy()
    sharp = softmax(plain[2:]) ** 2
    towards = np.vstack([target.numpy(), sharp / sharp.sum(axis=1, keepdims=True)])
    p = softmax(share * plain + (1 - share) * plain[partner])
    towards = share * towards + (1 - share) * towards[partner]
    expected = -(towards[:2] * np.log(p[:2])).sum(axis=1).mean() + 7 * np.square(p[2:] - towards[2:]).mean()
    assert found.item() == pytest.approx(expected, rel=1e-5)


def test_inputs_with_codes_are_mixed_at_the_cut():
    assert small(codes=False)[0].mixes_inputs
    model, x = small(codes=True)
    assert not model.mixes_inputs
    partner = torch.tensor([1, 2, 3, 4, 5, 0])
    mixed = _completion.mix(x["x"], partner, 0.7)
    torch.testing.assert_close(model.mixed(x, partner, 0.7), model({"x": mixed}))


def test_the_average_follows_the_model():
    slow, fast = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    expected = 0.9 * slow.weight.item() + 0.1 * fast.weight.item()
    _completion.update_average(slow, fast, 0.9)
    assert slow.weight.item() == pytest.approx(expected)


def test_the_average_normalizes_by_averaged_statistics():
    model, x = small(batch=True)
    slow = copy.deepcopy(model).eval()
    model(x)  # moves the running mean by a tenth
    _completion.update_average(slow, model, 0.9)
    torch.testing.assert_close(slow.head[0].running_mean, 0.01 * x["x"].mean(0))


@pytest.mark.parametrize("setup", ["clicks", "images"])
@pytest.mark.parametrize("tuned", [True, False])
def test_a_bottom_is_fine_tuned_or_left_as_it_is(setup, tuned, split_run, split_cases, monkeypatch):
    method = plugins.create("attack", "model_completion", {"epochs": 1, "steps": 2, "fine_tunes": tuned})
    _, seen, _ = split_cases(split_run(setup), "population")[0]
    found = []

    def probabilities(average, *more):
        found.append(flattened(average.bottom))
        return _completion.probabilities(average, *more)

    monkeypatch.setattr(model_completion, "probabilities", probabilities)
    method.infer(view_of(method, "model_completion", seen))
    assert bool((found[0] != seen["bottom"]).any()) == tuned


@pytest.mark.parametrize("setup", ["clicks", "images"])
@pytest.mark.parametrize("attack", ["completion_official", "completion_frozen"])
def test_other_completions_infer_labels_too(setup, attack, completed):
    use, parameters = plugins.used(VARIANTS[attack])
    assert use == "model_completion"
    found = [completed(setup, seed=seed, **parameters) for seed in range(2)]
    if setup == "clicks":
        assert np.mean([each["attack_utility"] for each in found]) > 0.7
    else:
        assert np.mean([each["attack_accuracy"] - each["majority"] for each in found]) > 0.3


def test_batch_normalization_needs_batches_of_two(split_run, split_cases):
    with pytest.raises(InputError, match=r"attack.model_completion: batch = 1, of which batch normalization has no"):
        plugins.create("attack", "model_completion", {"batch": 1, "normalization": "batch"})
    _, seen, _ = split_cases(split_run("clicks"), "population")[0]
    own = np.setdiff1d(np.arange(len(seen["features"])), seen["attacked"])
    for left, reasons in ((1, {"fixed": "", "batch": "2 or more unknown"}), (2, {"fixed": "", "batch": ""})):
        known = own[:-left]
        for kind, reason in reasons.items():
            method = plugins.create("attack", "model_completion", {"normalization": kind})
            view = view_of(method, "model_completion", seen | {"known": known, "known_labels": np.zeros(len(known))})
            assert reason in method.skip(view)
            assert bool(reason) == bool(method.skip(view))


def test_a_coordinate_that_never_varies_is_not_blown_up_and_parts_do_not_matter(monkeypatch):
    x = {"x": torch.tensor([[0.0, 5.0], [2.0, 5.0], [4.0, 5.0]])}
    found = []
    for rows in (1024, 2):
        monkeypatch.setattr(encoded, "ROWS", rows)
        model = _completion.Completed(Line(), x, np.arange(3), 2, 1, False, generator("head"))
        torch.testing.assert_close(model.head[0].mean, torch.tensor([2.0, 5.0]))
        torch.testing.assert_close(model.head[0].scale, torch.tensor([(8 / 3 + 1e-5) ** -0.5, 1.0]))
        found.append(_completion.probabilities(model, x, np.array([2, 0, 1])))
    np.testing.assert_array_equal(*found)


def test_batches_take_each_place_once_a_pass():
    draws = _completion.batches(np.arange(10), 3, generator("batches"))
    for _ in range(3):
        some = np.concatenate([next(draws) for _ in range(3)])
        assert len(set(some)) == 9
    assert sorted(next(_completion.batches(np.arange(2), 16, generator("batches")))) == [0, 1]


def test_guess_k_is_tried_on_some_batches_evenly_spaced_and_the_last():
    assert guess_k.GuessK(batches=3).chosen(list(range(12))) == [3, 7, 11]
    assert guess_k.GuessK(batches=5).chosen([7, 8]) == [7, 8]
    assert guess_k.GuessK().chosen([1, 2, 3]) == [1, 2, 3]


# Without anything to read.


@pytest.mark.parametrize("attack", GIVEN_BACK)
@pytest.mark.parametrize("setup", ["clicks", "balanced"])
def test_of_zeros_every_attack_reads_chance_and_no_row_before_another(setup, attack, split_run, split_cases):
    use, parameters = plugins.used(VARIANTS[attack])
    method, outcome = plugins.create("attack", use, parameters), split_run(setup, "send_nothing")
    told = 0
    for case, seen, rows in split_cases(outcome, method.target):
        view = view_of(method, attack, seen, case["step"])
        if not method.skip(view):
            spec, truth = SPLIT.guess_spec(seen, method.target), of_setting(outcome.truth, "")
            for one in guessed(method, view, spec).values():
                leak = SPLIT.leak(one, truth, case, rows, spec.given_to(method))
                told += leak["one_class"] == 0  # a batch may have no positive besides the known ones
                assert leak.get("leak_auc", 0.5) == 0.5
    assert told
