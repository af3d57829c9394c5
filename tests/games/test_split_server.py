"""The split_server protocol: what crosses is what training together would use; only the adversary's side is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.data.datasets.base import Table
from cutlayer.games.base import images as encoded_images
from cutlayer.games.base.model import Inputs
from cutlayer.games.base.protocol import Task
from cutlayer.games.base.snapshot import rebuilt
from cutlayer.games.split_server import protocol as split_server
from cutlayer.games.split_server.data import prepared
from cutlayer.games.split_server.defense import Defense
from cutlayer.games.split_server.defenses.none import NoDefense
from cutlayer.games.split_server.defenses.send_nothing import SendNothing
from cutlayer.plan import plugins

PROTOCOL = plugins.create("protocol", "split_server")
SETTINGS = {
    "protocol": "split_server",
    "dataset": "made",
    "sensitive": "group",
    "model": {"use": "mlp", "width": 8},
    "sigma": 1.0,
    "batch": 32,
    "epochs": 3,
    "rate": 0.01,
    "records": {"attacked": 20},
}


def table(rows=350):
    """Two numbers and two categories, one of them sensitive; the label depends on both kinds."""
    draw = generator("test_split_server", rows)
    numbers, codes = 50 * draw.random((rows, 2)) + 7, draw.integers(0, 3, (rows, 2))
    labels = (numbers[:, 0] + 10 * codes[:, 0] > 40).astype(np.int64)
    return Table(
        np.hstack([numbers, codes]), labels, {"group": codes[:, 1]}, ("x", "y", "c", "group"), ("c", "group"), 2
    )


def images(rows=70):
    draw = generator("test_split_server", "images", rows)
    pixels = draw.integers(0, 256, (rows, 3, 16, 16)).astype(np.uint8)
    return Table(pixels, draw.integers(0, 2, rows), {"group": draw.integers(0, 2, rows)}, (), (), 2)


def task(defense=None, own=None, seed=0, variant="none", **settings):
    return Task("made", variant, seed, own or table(), SETTINGS | settings, {"": defense or NoDefense()})


def test_rows_are_split_four_to_one_to_two():
    data = prepared(task())
    assert [len(data.train), len(data.test), len(data.known)] == [200, 50, 100]
    assert len({*data.train, *data.test, *data.known}) == 350


def parted(shares, rows=350):
    """The table, with so many rows of each part, in no order."""
    parts = generator("test_split_server", "parts").permutation(np.repeat(np.arange(len(shares)), shares))
    return replace(table(rows), attributes={"group": table(rows).attributes["group"], "part": parts})


@pytest.mark.parametrize(
    ("shares", "settings", "sizes"),
    [
        ((280, 35, 35), {}, [186, 46, 94]),  # too few that train: all 280 do, or are the attacker's
        ((280, 35, 35), {"rows": 70}, [40, 10, 20]),
        ((343, 3, 4), {}, [28, 7, 14]),  # too few to be tested
    ],
)
def test_a_partition_says_which_rows_are_tested(shares, settings, sizes):
    own = parted(shares)
    data = prepared(task(own=own, partition="part", **settings))
    assert [len(data.train), len(data.test), len(data.known)] == sizes
    assert len({*data.train, *data.test, *data.known}) == sum(sizes)
    part = own.attributes["part"]
    assert (part[data.test] > 0).all()
    assert (part[[*data.train, *data.known]] == 0).all()
    other = prepared(task(own=own, partition="part", seed=1, **settings))
    assert {*other.test} != {*data.test} or shares[0] == 343


@pytest.mark.parametrize(("shares", "lacking"), [((350,), "test"), ((0, 350), "train")])
def test_a_partition_without_rows_of_a_kind_is_refused(shares, lacking):
    with pytest.raises(InputError, match=rf"run.made/none/seed0: has no row to {lacking}; partition is part"):
        prepared(task(own=parted(shares), partition="part"))


def test_the_sensitive_column_is_not_an_input():
    data = prepared(task())
    assert data.features.shape == (350, 3)
    assert data.inputs.levels == [3]
    (encoded,) = data.encode(torch.arange(200)).values()
    assert encoded.shape == (200, 2 + 3)
    torch.testing.assert_close(encoded[:, :2].mean(0), torch.zeros(2), atol=1e-6, rtol=0)
    torch.testing.assert_close(encoded[:, :2].std(0, correction=0), torch.ones(2))


def test_nor_are_the_columns_that_a_setup_excludes():
    data = prepared(task(excluded=["c", "x"]))
    assert data.features.shape == (350, 1)
    assert data.inputs.levels == []
    np.testing.assert_array_equal(data.features[:, 0], table().features[:, 1])


def test_poison_is_a_share_of_the_training_rows_and_the_attackers_own():
    clean, data = prepared(task()), prepared(task(poison=0.2))
    assert len(data.poison) / len(data.train) == 0.2
    assert {*data.poison} <= {*data.known}
    np.testing.assert_array_equal(data.train, [*clean.train, *data.poison])


def test_the_encoders_gradient_is_that_of_training_together():
    own = task()
    data = prepared(own)
    ((_, defense),) = own.defenses.items()
    together, apart = (split_server._meet(own, "", defense, data) for _ in range(2))
    rows = data.batches(own, 0)[0]
    features = together.encoder(data.encode(rows))[1]
    noisy = features + together.sigma * together.clients.randn(*features.shape)
    cross_entropy(together.classifier(noisy, {}), data.labels[rows]).backward()
    split_server._step(apart, data, rows)
    for expected, found in zip(together.encoder.parameters(), apart.encoder.parameters(), strict=True):
        torch.testing.assert_close(found.grad, expected.grad, rtol=1e-5, atol=1e-8)


@dataclass(frozen=True)
class Still(Defense):
    """Never lets the encoder step."""

    protocols = {"split_server"}  # noqa: RUF012

    def update(self, utility, features, context):
        utility.backward()
        return False


def test_a_defense_may_keep_the_encoder_where_it_is():
    seen = PROTOCOL.run(task(Still(), variant="still")).transcripts[""]["encoder"]
    parameters = sum(
        p.numel() for p in plugins.create("model", "mlp", {"width": 8}).bottom(prepared(task()).inputs).parameters()
    )
    np.testing.assert_array_equal(seen[0][:parameters], seen[-1][:parameters])
    moving = PROTOCOL.run(task()).transcripts[""]["encoder"]
    assert (moving[0][:parameters] != moving[-1][:parameters]).any()


def test_only_the_adversarys_side_is_shown():
    outcome = PROTOCOL.run(task(poison=0.2))
    data, (seen,) = prepared(task(poison=0.2)), outcome.transcripts.values()
    assert set(seen) | set(outcome.shared) <= PROTOCOL.shows
    np.testing.assert_array_equal(outcome.shared["inputs"], data.features[data.known])
    assert seen["intercepted"].shape == (3, 20, 8)
    assert seen["poison"].shape == (3, 50, 8)
    assert seen["known"].shape == (100, 8)
    assert seen["attacked"].shape == (50, 8)
    np.testing.assert_array_equal(outcome.truth["attribute"], data.all_attribute[data.test])
    clean = data.train[: -len(data.poison)]
    np.testing.assert_array_equal(outcome.truth["training_attribute"], data.all_attribute[clean[:20]])


def rows_behind(part, data):
    """The rows whose features a part of the transcript shows."""
    clean = data.train[: len(data.train) - len(data.poison)]
    return {"known": data.known, "attacked": data.test, "intercepted": clean[:4000], "poison": data.poison}[part]


@pytest.mark.parametrize(
    ("views", "noisy"),
    [
        ({}, set()),
        ({"noisy_views": "none"}, set()),
        ({"noisy_views": "training"}, {"intercepted", "poison"}),
        ({"noisy_views": "all"}, {"intercepted", "poison", "known", "attacked"}),
    ],
)
def test_an_adversary_sees_the_features_with_noise_only_where_the_setup_says_so(views, noisy):
    own = task(own=table(7000), epochs=1, sigma=3.0, poison=0.2, records={"attacked": 4000}, **views)
    outcome, data = PROTOCOL.run(own), prepared(own)
    (seen,) = outcome.transcripts.values()
    _, _, encoder = rebuilt(outcome.shared["architecture"], seen["encoder"][-1])
    for part in ("known", "attacked", "intercepted", "poison"):
        clean = encoder(data.encode_table(rows_behind(part, data)))[1].detach().numpy()
        noise = (seen[part][-1] if seen[part].ndim == 3 else seen[part]) - clean
        if part not in noisy:
            np.testing.assert_allclose(noise, 0, atol=1e-5)
            continue
        assert noise.std() == pytest.approx(3, rel=0.05)
        assert abs(noise.mean()) < 0.1
        assert abs(np.corrcoef(noise.ravel(), clean.ravel())[0, 1]) < 0.05
    assert seen["noise"] == (3 if "intercepted" in noisy else 0)


@dataclass(frozen=True)
class Loud(Defense):
    """Half of the features, with noise of its own."""

    def release(self, features):
        return features / 2

    def deviation(self, clients):
        return 3.0 * clients.num_releases


@pytest.mark.parametrize("views", ["none", "all"])
def test_a_defense_s_own_noise_is_on_all_that_leaves_the_clients_and_on_what_it_bounds(views):
    records = {"attacked": 4000, "queries": 2}
    own = task(Loud(), table(7000), variant="loud", epochs=1, poison=0.2, records=records, noisy_views=views)
    outcome, data = PROTOCOL.run(own), prepared(own)
    (seen,) = outcome.transcripts.values()
    _, _, encoder = rebuilt(outcome.shared["architecture"], seen["encoder"][-1])
    for part in ("known", "attacked", "intercepted", "poison"):
        bounded = encoder(data.encode_table(rows_behind(part, data)))[1].detach().numpy() / 2
        noise = (seen[part][-1] if seen[part].ndim == 3 else seen[part]) - bounded
        assert noise.std() == pytest.approx(6, rel=0.05)
    assert seen["noise"] == 6


def test_a_defense_s_own_noise_and_bound_are_what_the_classifier_trains_on():
    """The setup's noise is not added: bounds of 0 and nearly no noise leave the classifier nothing but the noise."""
    own = task(sigma=100.0)
    data = prepared(own)
    parties = split_server._meet(own, "", Loud(), data)
    given = []
    parties.classifier.register_forward_pre_hook(lambda _, inputs: given.append(inputs[0].detach()))
    rows = data.batches(own, 0)[0]
    bounded = parties.clients.features(rows).detach()
    torch.testing.assert_close(bounded, parties.encoder(data.encode(rows))[1].detach() / 2)
    split_server._step(parties, data, rows)
    assert float((given[0] - bounded).std()) == pytest.approx(9, rel=0.3)  # three epochs, and the encoder has not moved


def test_the_classifier_trains_on_noise_whatever_is_seen():
    quiet, loud = (PROTOCOL.run(task(sigma=sigma)).transcripts[""]["encoder"][-1] for sigma in (1e-6, 3.0))
    seen = [PROTOCOL.run(task(noisy_views=views)).transcripts[""]["encoder"] for views in ("none", "all")]
    assert (quiet != loud).any()
    np.testing.assert_array_equal(*seen)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("model", ["mlp", "strided_cnn"])
def test_features_are_as_they_are_unless_the_model_normalizes_them(model, normalized):
    own = task(own=images() if model == "strided_cnn" else table(), model={"use": model, "normalized": normalized})
    data = prepared(own)
    encoder, _ = split_server._models(own, data)
    features = 5 * encoder(data.encode(torch.arange(40)))[1].detach()
    with torch.no_grad():
        for parameter in encoder.last.parameters():
            parameter *= 5
        again = encoder(data.encode(torch.arange(40)))[1]
    torch.testing.assert_close(again, features / 5 if normalized else features, rtol=1e-2, atol=1e-2)
    if normalized:
        across = [axis for axis in range(again.ndim) if axis != 1]
        torch.testing.assert_close(again.mean(across), torch.zeros(again.shape[1]), atol=1e-5, rtol=0)
        torch.testing.assert_close(again.std(across, correction=0), torch.ones(again.shape[1]), atol=1e-2, rtol=0)


def test_images_cross_as_images():
    outcome = PROTOCOL.run(task(own=images(), model={"use": "strided_cnn", "channels": 2}, batch=20))
    (seen,) = outcome.transcripts.values()
    assert seen["intercepted"].shape == (3, 20, 4, 2, 2)
    _, _, encoder = rebuilt(outcome.shared["architecture"], seen["encoder"][-1])
    images_, parts = torch.rand(5, 3, 16, 16), encoder({"images": torch.rand(5, 3, 16, 16)})[1]
    assert parts.shape == (len(images_), 4, 2, 2)


def test_runs_repeat_and_seeds_differ():
    first, again, other = (PROTOCOL.run(task(seed=seed)).transcripts[""] for seed in (0, 0, 1))
    for name in first:
        np.testing.assert_array_equal(first[name], again[name])
    assert (first["attacked"] != other["attacked"]).any()


def test_the_course_of_a_training_is_in_its_utility_rows():
    rows = PROTOCOL.run(task()).utility
    course = [row for row in rows if row["metric"] == "utility_loss"]
    assert [row["step"] for row in course] == list(range(1, 3 * (200 // 32) + 1))
    (accuracy,) = [row["value"] for row in rows if row["metric"] == "test_accuracy"]
    (utility,) = [row["value"] for row in rows if row["metric"] == "test_utility"]
    assert accuracy == utility > 0.5


def test_the_training_stages_metrics_are_of_the_last_and_of_the_best_epoch():
    truth = {"training_attribute": np.array([0, 0, 0, 1])}
    right, wrong = np.eye(2)[[0, 0, 0, 1]], np.eye(2)[[0, 0, 0, 0]]
    found = PROTOCOL.leak(np.stack([right, wrong]), truth, {}, "training_attribute")
    assert (found["attack_accuracy"], found["attack_accuracy_max"], found["majority"]) == (0.75, 1.0, 0.75)


def test_a_setup_without_an_attribute_is_refused():
    own = task()
    settings = {key: value for key, value in own.settings.items() if key != "sensitive"}
    with pytest.raises(InputError, match=r"run.made/none/seed0: has no sensitive attribute"):
        prepared(Task("made", "none", 0, own.table, settings, own.defenses))


@pytest.mark.parametrize(
    "model",
    [
        {"use": "cnn", "channels": 4, "width": 8},
        {"use": "strided_cnn", "channels": 4},
        {"use": "vgg", "channels": 4, "group": 1},
    ],
    ids=lambda model: model["use"],
)
@pytest.mark.parametrize("shrink", [1, 2])
def test_images_a_few_at_a_time_are_encoded_as_all_at_once(model, shrink, monkeypatch):
    own, together = images().features, {}
    inputs = Inputs(shape=list(own.shape[1:]), numeric=[], categorical=[], scale=255.0, center=[], spread=[], levels=[])
    method = plugins.create("model", *plugins.used(model | {"shrink": shrink}))
    for size in (len(own), 16):
        monkeypatch.setattr(encoded_images, "AT_ONCE", size)
        together[size] = method.encode(own, inputs)["images"]
    assert torch.equal(together[16], together[len(own)])
    assert together[16].shape == (len(own), 3, 16 // shrink, 16 // shrink)
    assert together[16].stride() == together[len(own)].stride()


def test_a_server_that_gets_zeros_guesses_the_most_common_class_and_the_encoder_stays_as_drawn():
    made = task(SendNothing(), epochs=12)
    outcome = PROTOCOL.run(made)
    seen, found = outcome.transcripts[""], {row["metric"]: row["value"] for row in outcome.utility}
    assert not seen["attacked"].any()
    labels = prepared(made).all_labels[prepared(made).test]
    assert found["test_accuracy"] == np.bincount(labels).max() / len(labels)
    assert found["promise"] == 0.5
    before = split_server._models(made, prepared(made))[0]
    _, _, after = rebuilt(outcome.shared["architecture"], seen["encoder"][-1])
    assert all(torch.equal(*both) for both in zip(before.parameters(), after.parameters(), strict=True))
