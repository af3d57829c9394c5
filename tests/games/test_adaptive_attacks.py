"""The label attacks of adversaries who know the defense: where each must succeed, and where it must fail.

What holds on average is tested on averages, with a tolerance of SIGMAS standard errors.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View, of_setting
from cutlayer.games.split.attacks import (
    _own_features,
    _principal,
    clusters,
    clusters_watched,
    clusters_without_k,
    drawn_and_norm,
    hint,
    off_axis,
    repeated,
)
from cutlayer.games.split.defense import Context, Training
from cutlayer.games.split.defenses._gaussians import estimated, perturbed
from cutlayer.metrics.leakage import chance_floor, leak_auc
from cutlayer.plan import plugins
from cutlayer.theory.marvell import auc_bound

SIGMAS = 5.0
SPLIT = plugins.create("protocol", "split")


def labels_of(rows, share=0.25):
    """(B,) int64, exactly `share` positive."""
    return generator("adaptive", rows).permutation(np.arange(rows) < share * rows).astype(np.int64)


def gradients_of(labels, rank, d=32, seed=0, spread=(0.1, 0.3)):
    """(B, d) of opposite class means, and a variance that is larger for positives in `rank` directions, else 0."""
    draw = generator("adaptive", rank, d, seed)
    basis = np.linalg.qr(draw.standard_normal((d, rank)))[0]
    means = np.where(labels == 1, 3.0, -1.0)[:, None] * basis[:, 0]
    return means + np.array(spread)[labels][:, None] * draw.standard_normal((len(labels), rank)) @ basis.T


def sent(defense, gradients, labels, seed=0):
    """What a defense sends for gradients (B, d)."""
    draw = torch.Generator().manual_seed(seed)
    training = Training(labels=torch.from_numpy(labels), classes=2, outputs=2, num_releases=1, generator=draw)
    context = Context(training, torch.arange(len(labels)), defense.begin(training))
    return defense.backward(torch.from_numpy(gradients.astype(np.float32)), context).numpy()


def split_defense(name, **parameters):
    return plugins.create("defense", name, parameters, "split")


def aucs(score, defense, rank, batches=20, rows=256):
    labels = labels_of(rows)
    return np.array(
        [leak_auc(score(sent(defense, gradients_of(labels, rank, seed=i), labels, i)), labels) for i in range(batches)]
    )


def aucs_of_hints(kind, rank, batches=20, rows=256):
    """Under marvell at sumKL 0.1, of the rows that are not among the first five positives, which are known."""
    labels, defense = labels_of(rows), split_defense("marvell", sum_kl=0.1)
    known = np.flatnonzero(labels)[:5]
    rest = np.setdiff1d(np.arange(rows), known)
    received = [sent(defense, gradients_of(labels, rank, seed=i), labels, i) for i in range(batches)]
    return np.array([leak_auc(hint.score(one, known, kind)[rest], labels[rest]) for one in received])


def error_of(auc_count, rows=256, share=0.25):
    """The standard error of a mean of so many useless scores' AUCs."""
    return chance_floor(int(share * rows), int((1 - share) * rows)) / 1.96 / np.sqrt(auc_count)


# off_axis.


@pytest.mark.parametrize("parameters", [{"sum_kl": 0.1}, {"sum_kl": 4.0}, {"error": 0.4}, {"power": 8.0}])
@pytest.mark.parametrize("rank", [1, 2, 8])
def test_off_axis_tells_labels_that_marvell_protects_where_gradients_have_low_rank(rank, parameters):
    assert aucs(off_axis.score, split_defense("marvell", **parameters), rank).min() > 0.95


def test_off_axis_is_within_marvell_s_bound_where_gradients_are_as_it_models_them():
    found = aucs(off_axis.score, split_defense("marvell", sum_kl=0.1), rank=32)
    assert abs(found.mean() - 0.5) <= auc_bound(0.1) - 0.5 + SIGMAS * error_of(len(found))


@pytest.mark.parametrize("rank", [1, 8, 32])
def test_off_axis_tells_nothing_where_all_rows_get_the_same_noise(rank):
    """With noise of the signal's size: a far weaker one leaves the classes' own spreads, where they have full rank."""
    found = aucs(off_axis.score, split_defense("iso", ratio=8.0), rank)
    own = 0.05 if rank == 32 else 0.0
    assert abs(found.mean() - 0.5) <= own + SIGMAS * error_of(len(found))


def test_a_cosine_with_hints_reads_marvell_and_an_inner_product_does_not():
    """Where gradients have low rank; no more than marvell's bound where they are as it models them."""
    limit = auc_bound(0.1) + SIGMAS * error_of(20)
    for rank, told in ((1, True), (32, False)):
        inner, cosine = (aucs_of_hints(kind, rank).mean() for kind in ("inner", "cosine"))
        assert inner < limit
        assert cosine > 0.9 if told else cosine < limit


def test_off_axis_takes_the_minority_for_positive_whichever_class_has_the_noise():
    labels = labels_of(256)
    for spread in ((0.1, 0.3), (0.3, 0.1)):
        rows = gradients_of(labels, 2, spread=spread)
        assert leak_auc(off_axis.score(sent(split_defense("marvell", sum_kl=0.1), rows, labels)), labels) > 0.95


# The mechanism: one thing at a time is changed of the noise, and of the gradients that it is added to.


def five_out(rows):
    return off_axis.score(rows, out=5)


def changed(gradients, labels, across, seed):
    """marvell's noise along the difference of the means, and these variances across it for negatives and positives."""
    own, member = split_defense("marvell", sum_kl=0.1), np.stack((labels != 1, labels == 1))
    rows, member = torch.from_numpy(gradients.astype(np.float32)), torch.from_numpy(member).float()
    model = estimated(rows, member)
    noise = own._noise(rows, model)
    negative, positive = across(noise)
    noise = noise._replace(negative_across=negative, positive_across=positive)
    draw = torch.Generator().manual_seed(seed)
    training = Training(labels=torch.from_numpy(labels), classes=2, outputs=2, num_releases=1, generator=draw)
    return perturbed(rows, member, model, noise, training).numpy()


OPTIMUM = lambda noise: (noise.negative_across, noise.positive_across)  # noqa: E731
NONE = lambda noise: (0.0, 0.0)  # noqa: E731
LARGER = lambda noise: (max(OPTIMUM(noise)),) * 2  # noqa: E731
SWAPPED = lambda noise: OPTIMUM(noise)[::-1]  # noqa: E731


@pytest.mark.parametrize(
    ("across", "rank", "least", "most"),
    [
        (OPTIMUM, 2, 0.95, 1.0),
        (SWAPPED, 2, 0.95, 1.0),  # whichever class has it
        (NONE, 2, 0.4, 0.6),  # along the axis alone: then nothing is off it but rounding
        (LARGER, 2, 0.4, 0.6),
        (OPTIMUM, 32, 0.4, 0.6),  # gradients as the theorem has them
    ],
)
def test_marvell_is_read_by_noise_that_one_class_has_off_the_axis_where_gradients_are_not_spread_alike(
    across, rank, least, most
):
    labels = labels_of(256)
    found = [
        leak_auc(five_out(changed(gradients_of(labels, rank, seed=i), labels, across, i)), labels) for i in range(20)
    ]
    assert least <= np.mean(found) <= most


@pytest.mark.parametrize("own", [{}, {"out": 5}])
def test_the_larger_noise_across_for_both_classes_keeps_marvell_from_being_read_off_its_axis(own):
    for rank in (1, 2, 8):
        found = aucs(
            lambda rows: off_axis.score(rows, **own), split_defense("marvell", sum_kl=0.1, across="larger"), rank
        )
        assert abs(found.mean() - 0.5) < 0.1


@pytest.mark.parametrize("d", [8, 32, 128])
@pytest.mark.parametrize("rows", [64, 256, 1024])
def test_a_cut_of_8_and_a_batch_of_64_are_enough_for_the_length_off_a_few_directions(d, rows):
    labels, defense = labels_of(rows), split_defense("marvell", sum_kl=0.1)
    found = [leak_auc(five_out(sent(defense, gradients_of(labels, 2, d, i), labels, i)), labels) for i in range(10)]
    assert np.mean(found) > 0.9


def test_a_cut_of_two_or_a_few_rows_are_not():
    defense = split_defense("marvell", sum_kl=0.1)
    for rows, d, out in ((256, 2, 1), (8, 32, 5)):
        labels = labels_of(rows)
        found = [
            leak_auc(off_axis.score(sent(defense, gradients_of(labels, 2, d, i), labels, i), out=out), labels)
            for i in range(20)
        ]
        assert abs(np.mean(found) - 0.5) < 0.4


# first_axis.


def test_the_first_axis_reads_noise_that_is_alike_in_all_directions():
    assert aucs(_principal.skewed, split_defense("iso", ratio=8.0), 1, batches=10).mean() > 0.8


# drawn_and_norm.


def responded(labels, epochs=6, flips=0.27, d=16, seed=0):
    """Gradients (E, W, d) of a model that learns the classes, of labels that are flipped once; and what was drawn."""
    draw = generator("responded", seed)
    drawn = np.where(draw.random(len(labels)) < flips, 1 - labels, labels)
    learned = np.linspace(0, 1, epochs)[:, None]
    opinion = np.clip(0.3 + learned * (0.2 * labels + 0.1 * draw.standard_normal(len(labels))), 0.02, 0.98)
    slopes = np.abs(draw.standard_normal((epochs, 1, d))) + 0.1 * draw.standard_normal((epochs, len(labels), d))
    return (opinion - drawn)[:, :, None] * slopes, drawn


def in_batches(rows):
    """The numbers (E, W) of the batches of rows (E, W, d) that are in one in every epoch."""
    return np.repeat(np.arange(len(rows))[:, None], rows.shape[1], axis=1)


def test_the_drawn_label_and_the_length_within_it_tell_more_than_the_drawn_label():
    labels = labels_of(1000)
    for epochs in (6, 80):  # fewer numbers of a row than rows, and more
        rows, drawn = responded(labels, epochs)
        np.testing.assert_array_equal(drawn_and_norm.drawn(rows), drawn == 1)
    assert leak_auc(drawn_and_norm.score(rows, in_batches(rows)), labels) > leak_auc(drawn, labels) + 0.05


def test_where_the_model_has_no_opinion_the_length_adds_nothing_to_the_drawn_label():
    labels = labels_of(1000)
    rows, drawn = responded(labels)
    same = rows / np.linalg.norm(rows, axis=2, keepdims=True)
    found = leak_auc(drawn_and_norm.score(same, in_batches(same)), labels)
    assert found == pytest.approx(leak_auc(drawn, labels), abs=SIGMAS * error_of(1, 1000))


def test_the_length_is_the_mean_over_epochs_in_which_a_record_is_in_a_batch():
    rows = np.repeat(gradients_of(labels_of(200), 1)[None], 4, axis=0)
    steps, some = in_batches(rows), rows.copy()
    steps[3, ::3], some[3, ::3] = -1, 0
    found, whole = drawn_and_norm.score(some, steps), drawn_and_norm.score(rows, in_batches(rows))
    np.testing.assert_allclose(found, whole, rtol=1e-12)


@pytest.mark.parametrize("form", ["drawn_and_norm", "by_size"])
def test_records_in_no_batch_rank_between_the_classes_and_change_no_other(form):
    labels, absent = labels_of(400, 0.1), np.arange(400) % 10 == 0  # as many as are positive

    def scored(rows, steps):
        if form == "drawn_and_norm":
            return drawn_and_norm.score(rows[None], steps[None])
        return clusters_watched.by_size(rows, steps >= 0, 2, 2, 0)

    for sign in (-1, 1):  # on which side of 0 a class is, says nothing
        rows, steps = sign * gradients_of(labels, 1), np.where(absent, -1, 0)
        found = scored(np.where(absent[:, None], 0, rows), steps)
        np.testing.assert_array_equal(found[~absent], scored(rows[~absent], steps[~absent]))
        assert found[~absent & (labels == 0)].max() < found[absent].min()
        assert found[absent].max() < found[~absent & (labels == 1)].min()


# repeated.


def relative_epochs(defense, epochs, rank=8, rows=1000, d=8):
    """(E, W, d) of one big batch an epoch, each with fresh noise, with the labels, the means and mean squares."""
    labels = labels_of(rows)
    gradients = gradients_of(labels, rank, d, spread=(0.1, 0.1))
    all_sent = np.stack([sent(defense, gradients, labels, seed=epoch) for epoch in range(epochs)])
    squares = np.square(all_sent, dtype=float).sum(axis=2).mean(axis=1)
    steps = np.repeat(np.arange(epochs)[:, None], rows, axis=1)
    means = all_sent.mean(axis=1)
    return all_sent / np.sqrt(squares)[:, None, None], steps, means, squares, labels


@pytest.mark.parametrize("sum_kl", [0.1, 0.5])
@pytest.mark.parametrize("epochs", [4, 16])
def test_marvell_s_bound_of_one_release_composes_over_epochs(epochs, sum_kl):
    *seen, labels = relative_epochs(split_defense("marvell", sum_kl=sum_kl), epochs)
    auc = leak_auc(repeated.axis(repeated.relative(*seen)), labels)
    assert max(auc, 1 - auc) == pytest.approx(
        stats.norm.cdf(np.sqrt(epochs * sum_kl / 2)), abs=SIGMAS * error_of(1, 1000)
    )


@pytest.mark.parametrize("form", [repeated.axis, lambda rows: repeated.common(rows, 0.1)], ids=["axis", "common"])
def test_noise_that_is_drawn_once_does_not_wear_off(form):
    *seen, labels = relative_epochs(split_defense("iso", ratio=8.0), 1)
    once = leak_auc(form(repeated.relative(*seen)), labels)
    again = [np.repeat(seen[0], 9, axis=0), np.repeat(np.arange(9)[:, None], 1000, axis=1)]
    again += [np.repeat(part, 9, axis=0) for part in seen[2:]]
    auc = leak_auc(form(repeated.relative(*again)), labels)
    assert max(auc, 1 - auc) == pytest.approx(max(once, 1 - once), abs=1e-6)
    *fresh, _ = relative_epochs(split_defense("iso", ratio=8.0), 9)
    anew = leak_auc(form(repeated.relative(*fresh)), labels)
    assert max(anew, 1 - anew) > max(once, 1 - once)


def test_the_order_on_either_side_of_the_gap_is_reversed_where_long_gradients_say_that_the_model_disagrees():
    np.testing.assert_array_equal(repeated.turned(np.array([0.0, 1, 2, 10, 12, 15])), [2, 1, 0, 15, 13, 10])
    np.testing.assert_array_equal(repeated.turned(np.zeros(30)), 0)
    draw = generator("turned")
    odds = draw.standard_normal(4000)  # what features say
    labels = draw.random(4000) < 1 / (1 + np.exp(-odds))
    drawn = np.where(draw.random(4000) < 0.73, labels, ~labels)
    score = 2 * drawn - 1 / (1 + np.exp(-odds))  # the drawn label less the prediction, the labels' gap widened
    assert leak_auc(repeated.turned(score), labels) > leak_auc(score, labels)


def test_rows_are_relative_to_their_own_batch_and_0_where_there_is_none():
    gradients = np.array([[[1.0, 2.0], [3.0, 4.0]]], dtype=np.float16)
    found = repeated.relative(gradients, np.array([[0, -1]]), np.array([[2.0, 0.0]]), np.array([4.0]))
    np.testing.assert_array_equal(found, [[[0.0, 2.0], [0.0, 0.0]]])


def test_two_scores_are_weighted_by_what_each_knows():
    draw = generator("joined")
    truth, n = draw.standard_normal(20_000), 20_000
    first, second = truth + draw.standard_normal(n), truth + 2 * draw.standard_normal(n)
    found = repeated.joined(first, second, 0.5)
    best = first + second / 4  # weights are those of the inverse variances of what is no signal
    assert np.corrcoef(found, best)[0, 1] > 0.999  # but for the two standard errors that are taken off
    np.testing.assert_array_equal(  # a score that says nothing changes nothing but the scale
        np.argsort(repeated.joined(first, np.zeros(n), 0.5)), np.argsort(first)
    )


def test_trust_is_the_share_of_signal_in_the_sum_over_epochs():
    draw = generator("trust")
    truth = draw.standard_normal(20_000)
    rows = truth[None, :, None] + draw.standard_normal((4, 20_000, 1))
    assert repeated.trust(rows, rows.sum(axis=0)[:, 0]) == pytest.approx(16 / (16 + 4), abs=0.02)


# clusters.


def faked(sizes, d=32, noise=0.05, seed=0):
    """Unit directions (B, d), as many of each as `sizes` says, with noise; and which is whose (B,)."""
    draw = generator("faked", *sizes, seed)
    directions = draw.standard_normal((len(sizes), d))
    own = np.repeat(np.arange(len(sizes)), sizes)
    return directions[own] + noise * draw.standard_normal((len(own), d)), own


def test_clusters_of_a_rarer_class_are_smaller_and_so_tell_it():
    rows, own = faked([30] * 5 + [10] * 5)
    assert leak_auc(clusters.score(rows, 10), own >= 5) == 1


@pytest.mark.parametrize("fakes", [2, 5, 10])
def test_how_many_clusters_there_are_shows_in_the_distances_at_which_they_merge(fakes):
    rows, own = faked([30] * fakes + [10] * fakes)
    found = clusters_without_k.groups(clusters.directions(rows), 40)
    assert len(np.unique(found)) == 2 * fakes
    assert len(np.unique(np.stack([found, own]), axis=1).T) == 2 * fakes


def test_without_k_no_more_clusters_are_found_than_allowed_or_than_there_are():
    rows, _ = faked([30] * 10)
    assert len(np.unique(clusters_without_k.groups(rows, 6))) <= 6
    for few in (np.zeros((5, 3)), np.ones((1, 2)), np.eye(3)[:2], np.eye(3)):
        assert len(np.unique(clusters_without_k.groups(few, 40))) <= max(1, len(few) - 1)


def test_clusters_tell_nothing_of_classes_of_one_size():
    found = [leak_auc(clusters.score(faked([20] * 10, seed=seed)[0], 10), np.arange(200) >= 100) for seed in range(20)]
    assert np.mean(found) == pytest.approx(0.5, abs=SIGMAS * error_of(20, 200, 0.5))


def test_a_direction_has_length_1_at_any_scale():
    for unit in (1e-300, 1.0, 1e300):
        np.testing.assert_allclose(clusters.directions(unit * np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0, 0]])


def test_clusters_are_dealt_to_classes_in_equal_numbers_by_features_and_named_by_one_known_row_each():
    draw = generator("merged")
    found = np.repeat(np.arange(12), 20)
    truth = found % 3
    features = np.eye(3)[truth] + 1.0 * draw.standard_normal((len(found), 3))
    known = np.array([0, 20, 40])  # of the clusters 0, 1 and 2
    dealt = clusters_watched.merged(found, features, known, truth[known], 3)
    assert (np.bincount(np.unique(np.stack([found, dealt]), axis=1)[1]) == 4).all()
    np.testing.assert_array_equal(dealt, truth)


def test_own_features_are_numbers_of_one_scale_and_predict_what_depends_on_them():
    draw = generator("own features")
    features = draw.standard_normal((200, 3))
    columns = (features - features.mean(axis=0)) / features.std(axis=0)
    found = _own_features.predicted(columns, features[:, 0] ** 2)
    assert np.corrcoef(found, features[:, 0] ** 2)[0, 1] > 0.7
    assert abs(np.corrcoef(found, draw.standard_normal(200))[0, 1]) < SIGMAS / np.sqrt(200)
    np.testing.assert_array_equal(_own_features.predicted(columns[:, :0], features[:, 0]), 0)
    turned = _own_features.predicted(columns[::-1], features[::-1, 0] ** 2)[::-1]  # what is kept is of other rows
    np.testing.assert_allclose(turned, found, atol=1e-8)


# On trainings.


@pytest.fixture(scope="module")
def leak(split_run, split_cases):
    """`leak(setup, defense, attack, own, two_sided, **parameters)`: the mean metric over the cases of a run."""

    def mean(setup, defense, attack, own=None, two_sided=False, **parameters):
        method, outcome = plugins.create("attack", attack, own or {}), split_run(setup, defense, **parameters)
        found = []
        for case, seen, rows in split_cases(outcome, method.target):
            view = View(attack, method.sees, seen, generator("adaptive", attack, case["step"]))
            assert not method.skip(view)
            given = SPLIT.guess_spec(seen, method.target).given_to(method)
            metrics = SPLIT.leak(method.infer(view), of_setting(outcome.truth, ""), case, rows, given)
            value = metrics.get("leak_auc", metrics.get("attack_accuracy"))
            found.append(max(value, 1 - value) if two_sided else value)
        return np.mean(found)

    return mean


def test_marvell_s_gradients_of_a_training_have_low_rank_and_tell_labels(leak):
    """Two-sided: a batch of 64 may have three positives, and then the two clusters' sizes do not tell the sign."""
    assert leak("clicks", "marvell", "off_axis", two_sided=True, sum_kl=0.1) > 0.9


def test_repeated_reads_labels_off_trainings_and_has_the_right_sign(leak):
    for form in ("axis", "common"):
        for defense, own in (("none", {}), ("iso", {"ratio": 8.0}), ("max_norm", {})):
            assert leak("clicks", defense, "repeated", {"form": form}, **own) > 0.9
    for defense, own in (("none", {}), ("iso", {"ratio": 1.0})):
        assert leak("clicks", defense, "repeated", {"form": "mean"}, **own) > 0.9


def test_the_first_epoch_alone_is_read_too_and_differs_from_all_of_them(leak, split_run, split_cases):
    for defense, own in (("iso", {"ratio": 1.0}), ("max_norm", {})):
        assert leak("clicks", defense, "repeated", {"epochs": "first"}, two_sided=True, **own) > 0.6
    ((_, seen, _),) = split_cases(split_run("clicks", "iso", ratio=1.0), "watched")
    cut = seen | {name: seen[name][:1] for name in ("watched_gradients", "watched_steps")}
    for name, own in (("repeated", {}), ("clusters_watched", {"by": "size"}), ("drawn_and_norm", {})):
        first, every = (plugins.create("attack", name, own | {"epochs": epochs}) for epochs in ("first", "all"))
        found, whole, alone = (
            method.infer(View(name, method.sees, what, generator("first")))
            for method, what in ((first, seen), (every, seen), (first, cut))
        )
        np.testing.assert_array_equal(found, alone)
        assert (found != whole).any()


def test_the_mean_of_all_batches_finds_an_axis_that_lies_below_the_noise_of_the_tracked_records():
    """Each release adds a normal score whose classes are 0.15 deviations apart: at best Phi(0.15 sqrt(E / 2))."""
    draw, apart, shape = generator("mean axis"), 0.15, (16, 2000, 64)
    slope = np.eye(64)[0] * apart
    labels = np.arange(2000) % 5 == 0
    rows = draw.standard_normal(shape) + np.where(labels, -0.8, 0.2)[:, None] * slope
    means = 0.3 * slope + draw.standard_normal((16 * 100, 64)) / 16  # of 256 rows each; of the model's own error
    optimum = float(stats.norm.cdf(apart * np.sqrt(shape[0] / 2)))
    error = np.sqrt(2001 / (12 * 400 * 1600))
    found = leak_auc(repeated.along_mean(rows, means, np.full(len(means), 1.0)), labels)
    assert abs(found - optimum) < SIGMAS * error
    assert abs(leak_auc(repeated.axis(rows), labels) - 0.5) < SIGMAS * error < optimum - 0.5


def test_repeated_composes_less_where_differential_privacy_is_accounted_over_all_epochs(leak):
    strong, weak = (leak("clicks", "dp", "repeated", epsilon=epsilon) for epsilon in (1.0, 100.0))
    assert weak > 0.9
    assert abs(strong - 0.5) < weak - 0.5


def test_attacks_that_take_turns_with_the_settings_of_a_run_get_the_scores_of_their_own_rows():
    settings = [generator("turns", i).standard_normal((3, 40, 4)) for i in range(repeated.KEPT + 1)]
    for rows in [*settings, *reversed(settings)]:
        alone = repeated._common.__wrapped__(rows.tobytes(), rows.shape, 0.1)
        np.testing.assert_array_equal(repeated.common(rows, 0.1), alone)
    assert repeated._common.cache_info().hits >= repeated.KEPT


def test_what_all_epochs_have_in_common_tells_more_of_mixed_gradients_than_their_sum(leak):
    assert leak("clicks", "mixpro", "repeated", {"form": "common"}) > leak("clicks", "mixpro", "repeated")


def test_secdt_s_fake_classes_are_clusters_in_a_batch_and_over_epochs(leak):
    assert leak("clicks", "secdt", "clusters", expansion=2) > 0.9
    assert leak("clicks", "secdt", "clusters_without_k", expansion=10) > 0.9
    assert leak("clicks", "secdt", "clusters_watched", {"by": "size"}, expansion=2) > 0.9
    assert leak("clicks", "secdt", "clusters_watched", {"by": "features"}, expansion=2) > 0.8


def test_secdt_s_noise_hides_fake_classes_of_a_batch_only_as_equation_16_has_it_and_not_over_epochs(leak):
    softmax, raw = ({"expansion": 5, "noise_form": form} for form in ("softmax", "raw"))
    assert leak("clicks", "secdt", "clusters", **softmax) > 0.8
    assert abs(leak("clicks", "secdt", "clusters", **raw) - 0.5) < 0.1
    assert leak("clicks", "secdt", "repeated", **raw) > 0.8


def test_one_known_label_a_class_names_the_fake_classes_of_many_classes(leak):
    for parameters in ({"expansion": 1}, {"expansion": 2}, {"expansion": 10}):
        assert leak("images", "secdt", "clusters_watched", **parameters) > 0.5  # of ten classes


@pytest.mark.parametrize(
    ("name", "own"), [("repeated", {}), ("clusters_watched", {"by": "size"}), ("drawn_and_norm", {})]
)
def test_setups_that_follow_no_rows_and_trainings_of_one_epoch_are_skipped(name, own):
    method = plugins.create("attack", name, own)
    assert "here none is" in method.skip(View(name, method.sees, {"classes": np.array(2)}, generator("skip")))
    once = {"watched_gradients": np.zeros((1, 3, 2)), "classes": np.array(2)}
    assert "here there is 1 epoch" in method.skip(View(name, method.sees, once, generator("skip")))
    first = plugins.create("attack", name, own | {"epochs": "first"})
    assert not first.skip(View(name, first.sees, once, generator("skip")))


def test_known_rows_are_not_guessed_and_have_to_be_there(split_run, split_cases):
    method = plugins.create("attack", "clusters_watched", {"known": 2})
    ((_, seen, _),) = split_cases(split_run("clicks"), "watched")
    guess = method.infer(View("clusters_watched", method.sees, seen, generator("known")))
    labels = seen["known_labels"]
    first = np.concatenate([np.flatnonzero(labels == label)[:2] for label in (0, 1)])
    np.testing.assert_array_equal(np.sort(first), np.flatnonzero(np.isnan(guess)))
    without = {name: part for name, part in seen.items() if name != "known_labels"}
    assert "here there are 0" in method.skip(View("clusters_watched", method.sees, without, generator("known")))
