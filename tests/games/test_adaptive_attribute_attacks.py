"""The attribute attacks of adversaries who know the defense: where each must succeed, and where it must fail.

What holds on average is tested on averages, with a tolerance of SIGMAS standard errors of a useless score.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.data.datasets.base import Table
from cutlayer.games.attributes.kernel import LEFT_OUT, posterior
from cutlayer.games.attributes.linear import discriminant, regression
from cutlayer.games.base.protocol import Task
from cutlayer.games.split_server.attacks import _encoders
from cutlayer.metrics.attributes import auc
from cutlayer.metrics.leakage import chance_floor
from cutlayer.plan import plugins

SIGMAS = 5.0
ROWS = 2000  # attacked; as many of either value
KNOWN, EPOCHS, WIDTH = 1000, 9, 4
ERROR = SIGMAS * chance_floor(ROWS // 2, ROWS // 2) / 1.96
FORMS = ("kernel", "logistic", "discriminant")
every_form = pytest.mark.parametrize("form", FORMS)


def halves(rows):
    return np.arange(rows) % 2


def view_of(name, seen, seed=0):
    return View(name, plugins.method("attack", name).constants["sees"], seen, generator("adaptive", name, seed))


def infer(name, seen, **parameters):
    return plugins.create("attack", name, parameters).infer(view_of(name, seen))


def heard(features, noise=0.0):
    """A transcript of known and attacked rows, `features(attribute (n,), draw) -> (E, n, k)`; the truth is `halves`."""
    draw = generator("adaptive", "heard", noise)
    return {
        "poison": features(halves(KNOWN), draw), "poison_attribute": halves(KNOWN), "values": np.array(2),
        "intercepted": features(halves(ROWS), draw), "noise": np.array(noise),
    }  # fmt: skip


def shifted(gap, noise, shown=True):
    """The same small shift in each epoch, and noise drawn anew; the shift is the attribute's, or nobody's."""

    def features(attribute, draw):
        carried = attribute if shown else draw.integers(0, 2, len(attribute))
        signal = gap * (carried - 0.5)[:, None] * np.eye(WIDTH)[0]
        return signal + noise * draw.standard_normal((EPOCHS, len(attribute), WIDTH))

    return features


def own_auc(guess):
    return auc(guess, halves(len(guess)))


# all_epochs.


@every_form
@pytest.mark.parametrize("noise", [1.0, 1e3])
def test_with_fresh_noise_all_epochs_tell_what_composition_allows_and_one_does_not(form, noise):
    seen = heard(shifted(noise, noise), noise)
    found, once = own_auc(infer("all_epochs", seen, form=form)), norm.cdf(1 / math.sqrt(2))
    composed = norm.cdf(math.sqrt(EPOCHS / 2))
    assert found <= composed + ERROR
    assert found > (once + composed) / 2
    assert own_auc(infer("logistic_poison", seen)[-1]) <= once + ERROR


@every_form
def test_encoders_that_each_keep_back_most_tell_all_together_without_noise(form):
    """The attribute is the sign of a sum of which each epoch shows one term."""

    def features(attribute, draw):
        terms = draw.standard_normal((EPOCHS, 4 * len(attribute)))
        order = np.argsort(terms.sum(axis=0) <= 0, kind="stable")
        positive = np.count_nonzero(terms.sum(axis=0) > 0)
        chosen = np.where(attribute, order[: len(attribute)], order[positive : positive + len(attribute)])
        return terms[:, chosen, None]

    seen = heard(features)
    single = [own_auc(guess) for guess in infer("logistic_poison", seen)]
    found = own_auc(infer("all_epochs", seen, form=form))
    assert max(single) < 0.75  # 1/2 + asin(sqrt(1/9)) / pi is 0.61 of the signs
    assert found > (0.9 if form == "kernel" else 0.99)


@every_form
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_an_attribute_that_no_epoch_carries_is_not_found_in_all(form, noise):
    seen = heard(shifted(3.0, max(noise, 0.1), shown=False), noise)
    assert abs(own_auc(infer("all_epochs", seen, form=form)) - 0.5) < ERROR


def test_one_epoch_is_the_single_attack():
    seen = heard(lambda attribute, draw: shifted(1.0, 1.0)(attribute, draw)[:1], 1.0)
    np.testing.assert_allclose(infer("all_epochs", seen, form="logistic"), infer("logistic_poison", seen)[0], atol=1e-9)


@every_form
def test_the_same_features_in_every_epoch_are_as_good_as_one(form):
    """Where nothing is random and the encoder stays as it is, a row that comes back tells nothing new."""
    once = heard(lambda attribute, draw: shifted(1.0, 1.0)(attribute, draw)[:1])
    often = once | {part: np.repeat(once[part], EPOCHS, axis=0) for part in ("poison", "intercepted")}
    guesses = [infer("all_epochs", seen, form=form) for seen in (once, often)]
    if form == "kernel":
        np.testing.assert_allclose(*guesses, rtol=0, atol=1e-9)
    else:  # but for penalty and shrinkage, which count features
        np.testing.assert_allclose(*map(own_auc, guesses), rtol=0, atol=1e-3)


def test_the_unit_of_an_epoch_s_features_does_not_matter_where_there_is_no_noise():
    seen = heard(shifted(1.0, 1.0))
    units = 10.0 ** np.arange(EPOCHS).reshape(-1, 1, 1)
    other = seen | {part: units * seen[part] for part in ("poison", "intercepted")}
    for form in FORMS:
        guesses = [infer("all_epochs", each, form=form) for each in (seen, other)]
        np.testing.assert_allclose(*guesses, rtol=0, atol=1e-4)


def test_a_discriminant_is_not_for_features_whose_covariance_is_too_large():
    own = plugins.create("attack", "all_epochs", {"form": "discriminant"})
    seen = {"intercepted": np.zeros((EPOCHS, 2, 456)), "noise": np.array(0.0)}
    assert own.skip(view_of("all_epochs", seen)).startswith("for at most 4096 features of a row in all epochs, here")
    assert not own.skip(view_of("all_epochs", seen | {"intercepted": np.zeros((EPOCHS, 2, 455))}))
    assert not plugins.create("attack", "all_epochs").skip(view_of("all_epochs", seen))


@every_form
def test_images_are_taken_as_they_are(form):
    seen = heard(shifted(1.0, 1.0), 1.0)
    images = seen | {part: seen[part].reshape(EPOCHS, -1, 2, 2, 1) for part in ("poison", "intercepted")}
    np.testing.assert_array_equal(infer("all_epochs", seen, form=form), infer("all_epochs", images, form=form))


# The client, on transcripts of the protocol.

SETTINGS = {
    "protocol": "split_server", "dataset": "made", "sensitive": "group", "model": {"use": "mlp", "width": 8},
    "sigma": 1.0, "batch": 32, "epochs": 3, "rate": 0.01, "poison": 0.1, "records": {"attacked": 200, "queries": 16},
}  # fmt: skip


def people(rows=2100):
    """Two numbers, one of them higher in the second group, and a code."""
    draw = generator("adaptive", "people", rows)
    group, numbers = draw.integers(0, 2, rows), draw.standard_normal((rows, 2))
    numbers[:, 0] += 2 * group
    codes = draw.integers(0, 3, rows)
    labels = (numbers.sum(axis=1) + codes > 2).astype(np.int64)
    columns = np.column_stack([numbers, codes, group])
    return Table(columns, labels, {"group": group}, ("x", "y", "c", "group"), ("c", "group"), 2)


def played(defense="none", parameters=None, game="split_server", **settings):
    """(what is seen at the inference stage, in training, the truth)."""
    protocol = plugins.create("protocol", game)
    own = plugins.create("defense", defense, parameters, game)
    outcome = protocol.run(Task("made", defense, 0, people(), SETTINGS | settings, {"": own}))
    seen = outcome.transcripts[""] | outcome.shared
    targets = ["attribute", "training_attribute"] if game == "split_server" else ["attribute"]
    return [next(iter(protocol.cases(seen, target)))[1] for target in targets], outcome


@pytest.mark.parametrize(("defense", "views"), [("none", "none"), ("none", "training"), ("gaussian_features", "none")])
def test_a_client_sends_its_rows_through_each_epoch_s_encoder_as_the_others_do_but_for_noise(defense, views):
    (_, seen), _ = played(defense, noisy_views=views)
    found = _encoders.encoded(view_of("all_epochs", seen), 2000)
    assert found.shape == (3, 600, 8)
    np.testing.assert_allclose(_encoders.encoded(view_of("all_epochs", seen), 7), found[:, :7], atol=1e-5)
    noise = seen["poison"] - found[:, : seen["poison"].shape[1]]  # the first of its rows
    if not seen["noise"]:
        np.testing.assert_allclose(noise, 0, atol=1e-5)
    else:
        assert noise.std() == pytest.approx(float(seen["noise"]), rel=0.05)


@every_form
@pytest.mark.parametrize("views", ["none", "training"])
def test_a_client_tells_the_attribute_of_an_undefended_training(form, views):
    (_, seen), outcome = played(noisy_views=views)
    found = auc(infer("all_epochs", seen, form=form, client=True), outcome.truth["training_attribute"])
    assert found > 0.85  # the table itself says 0.92


# The kernel and the regression.


def test_the_kernel_follows_the_rows_that_are_near_and_no_further_than_leave_one_out_says():
    draw = generator("adaptive", "kernel")
    attribute = np.arange(600) % 3
    near = 10.0 * np.eye(3)[attribute] + draw.standard_normal((600, 3))
    found = posterior(near, attribute, 4, 10.0 * np.eye(3))
    np.testing.assert_allclose(found, np.eye(4)[:3], atol=1e-3)
    nothing = posterior(draw.standard_normal((600, 3)), attribute, 3, draw.standard_normal((50, 3)))
    np.testing.assert_allclose(nothing, 1 / 3, atol=0.15)
    np.testing.assert_allclose(nothing.sum(axis=1), 1, atol=1e-12)


def test_probes_with_noise_choose_a_width_for_what_has_noise():
    """By rows without noise a width is chosen at which what has noise is taken for one neighbor's."""
    draw = generator("adaptive", "probes")
    attribute = halves(LEFT_OUT)
    known = 0.5 * attribute[:, None] * np.ones(20) + 0.01 * draw.standard_normal((LEFT_OUT, 20))
    asked = 0.5 * halves(ROWS)[:, None] * np.ones(20) + draw.standard_normal((ROWS, 20))
    probes = known + draw.standard_normal(known.shape)
    own, noisy = (posterior(known, attribute, 2, asked, some) for some in (None, probes))
    loss = [-np.log(np.maximum(guess, 1e-3)[np.arange(ROWS), halves(ROWS)]).mean() for guess in (own, noisy)]
    assert loss[1] < loss[0] / 2


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_few_known_rows_or_rows_that_are_all_alike_are_enough_to_guess(rows):
    attribute = np.arange(rows) % 2
    decoders = [regression] if rows == 2 else [regression, discriminant]  # one row of each value has no variance
    for known in (np.ones((rows, 3)), np.arange(3.0 * rows).reshape(rows, 3)):
        linear = [decoder(known, attribute, 3)(known) for decoder in decoders]
        for guess in (posterior(known, attribute, 3, np.zeros((4, 3))), *linear):
            assert np.isfinite(guess).all()
            np.testing.assert_allclose(guess.sum(axis=1), 1, atol=1e-12)
    alike = posterior(np.ones((4, 3)), np.array([0, 0, 0, 1]), 3, np.ones((1, 3)))
    np.testing.assert_allclose(alike, [[0.75, 0.25, 0]])


@pytest.mark.parametrize(("rows", "features", "values"), [(40, 90, 3), (60, 400, 2)])
def test_a_discriminant_of_more_features_than_rows_is_the_one_that_writes_its_covariance_down(rows, features, values):
    draw = generator("adaptive", "wide", rows)
    attribute = np.arange(rows) % values
    known = draw.standard_normal((rows, features)) * draw.random(features) + 0.1 * attribute[:, None]
    known[:, 0] = 1.0  # tells nothing
    asked = draw.standard_normal((50, features))
    plain = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto").fit(known, attribute)
    found = discriminant(known, attribute, values)(asked)
    np.testing.assert_allclose(found, plain.predict_proba(asked), atol=1e-8)
    alike = discriminant(np.ones((rows, features)), attribute, values)(asked)
    np.testing.assert_allclose(alike, np.tile(np.bincount(attribute) / rows, (50, 1)), atol=1e-12)


# logistic and repeated_queries.


def asked(gap, noise, queries, shown=True):
    """A transcript of rows that are sent so many times."""
    draw = generator("adaptive", "asked", gap, noise, queries)
    found = {"values": np.array(2), "known_attribute": halves(KNOWN)}
    for part, rows in (("known", KNOWN), ("attacked", ROWS)):
        carried = halves(rows) if shown else draw.integers(0, 2, rows)
        sent = gap * carried[:, None] * np.eye(WIDTH)[0] + noise * draw.standard_normal((queries, rows, WIDTH))
        found |= {part: sent[0]} | ({f"{part}_mean": sent.mean(axis=0)} if queries > 1 else {})
    return found


@pytest.mark.parametrize("name", ["logistic", "repeated_queries"])
def test_features_that_carry_the_attribute_give_it_away_and_others_do_not(name):
    assert own_auc(infer(name, asked(6.0, 1.0, 1))) > 0.99
    assert abs(own_auc(infer(name, asked(6.0, 1.0, 4, shown=False))) - 0.5) < ERROR


def test_logistic_is_as_good_as_one_sending_allows_and_repeated_queries_as_all_do():
    seen = asked(1.0, 1.0, EPOCHS)
    once, all_ = (own_auc(infer(name, seen)) for name in ("logistic", "repeated_queries"))
    assert once == pytest.approx(norm.cdf(1 / math.sqrt(2)), abs=ERROR)
    assert all_ == pytest.approx(norm.cdf(math.sqrt(EPOCHS / 2)), abs=ERROR)


FEDERATION = {
    "protocol": "federated", "devices": 6, "participation": 0.5, "rounds": 2, "local_epochs": 1, "batch": 32,
    "rate": 0.05, "pretraining": 1, "average": "plain", "records": {}, "head_epochs": 2,
    "model": {"use": "fully_connected", "width": 8, "trunk": 8, "depth": 2},
}  # fmt: skip


@pytest.mark.parametrize(
    ("defense", "parameters", "settings"),
    [
        ("none", {}, {}),
        ("tcpo", {"threshold": 0.2}, {}),
        ("none", {}, {"noisy_views": "training"}),
        ("dp_gaussian", {"noise": 0.1}, FEDERATION),
    ],
)
def test_where_nothing_is_random_when_a_row_is_sent_all_queries_are_one(defense, parameters, settings):
    (seen, *_), _ = played(defense, parameters, settings.get("protocol", "split_server"), **settings)
    assert not {"known_mean", "attacked_mean"} & set(seen)
    np.testing.assert_array_equal(infer("repeated_queries", seen), infer("logistic", seen))


@pytest.mark.parametrize(
    ("defense", "parameters", "views"),
    [
        ("none", {}, "all"),
        ("gaussian_features", {"epsilon": 30.0}, "none"),
        ("tcpo_composed", {"threshold": 0.2}, "none"),
    ],
)
def test_the_mean_of_all_queries_has_the_noise_of_one_over_the_root_of_their_number(defense, parameters, views):
    (seen, training), outcome = played(defense, parameters, noisy_views=views)
    clean = _encoders.encoded(view_of("all_epochs", training), 2000)[-1]  # the trained encoder is the last epoch's
    deviation = float(training["noise"])
    assert (seen["known"] - clean).std() == pytest.approx(deviation, rel=0.05)
    assert (seen["known_mean"] - clean).std() == pytest.approx(deviation / 4, rel=0.05)
    own, often = seen["known"] - clean, seen["known_mean"] - clean
    assert np.corrcoef(own.ravel(), often.ravel())[0, 1] == pytest.approx(1 / 4, abs=0.1)  # it is one of the sixteen
    assert seen["attacked_mean"].shape == seen["attacked"].shape == (len(outcome.truth["attribute"]), 8)


# What all guarantee.


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("all_epochs", {"form": form, "client": client}) for form in FORMS for client in (False, True)]
    + [("logistic_poison", {}), ("logistic", {}), ("repeated_queries", {})],
)
def test_a_guess_is_a_row_of_probabilities_of_what_the_adversary_sees_alone(name, parameters):
    (inference, training), outcome = played("gaussian_features")
    target = plugins.method("attack", name).constants["target"]
    seen = inference if target == "attribute" else training
    assert plugins.method("attack", name).constants["sees"] <= set(seen)
    guess = infer(name, seen, **parameters)
    rows = len(outcome.truth[target])
    assert guess.shape == ((3, rows, 2) if name == "logistic_poison" else (rows, 2))
    assert guess.dtype == np.float64
    assert guess.min() >= 0
    np.testing.assert_allclose(guess.sum(axis=-1), 1, atol=1e-12)
    sees = plugins.method("attack", name).constants["sees"]
    hidden = seen | {part: np.zeros_like(value) for part, value in seen.items() if part not in sees}
    np.testing.assert_array_equal(guess, infer(name, hidden, **parameters))
