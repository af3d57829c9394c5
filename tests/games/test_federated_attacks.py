"""The attacks on federated representations: on ones that carry an attribute or do not, by networks new and old."""

from __future__ import annotations

import functools
import json
from dataclasses import asdict, dataclass

import numpy as np
import pytest
import torch
from tests.games.people import Bottom, Layered, Top, named_small, people
from torch import nn

from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.attributes import decoder as _decoder
from cutlayer.games.base.model import Inputs
from cutlayer.games.base.snapshot import filled, flattened
from cutlayer.games.federated.attacks import retrained
from cutlayer.metrics.attributes import attribute_leak
from cutlayer.plan import plugins
from cutlayer.stages import scores

CAPACITIES = ["linear", "head", "wide"]
SHORT = {"epochs": 40, "batch": 64, "rate": 0.003, "width": 32}  # the defaults are for thousands of rows
OTHER = {"decensoring": {"epochs": 30, "batch": 64, "rate": 0.003}, "stale": {}}
DEVICES = 3
NAMES = ["retrained", "stale", "decensoring"]
every_attack = pytest.mark.parametrize("name", NAMES)
every_case = pytest.mark.parametrize(("kind", "values"), [("table", 2), ("table", 3), ("images", 2)])


@dataclass(frozen=True)
class Small(Layered):
    """6 numbers to 4, or images of 8 x 8 to 4 channels of 4 x 4."""

    def bottom(self, inputs):
        if len(inputs.shape) == 1:
            return Bottom(nn.Linear(6, 4))
        return Bottom(nn.Conv2d(1, 4, 2, stride=2))

    def top(self, inputs, outputs):
        first = [nn.Linear(4, 16)] if len(inputs.shape) == 1 else [nn.Flatten(), nn.Linear(64, 16)]
        return Top(*first, nn.ReLU(), nn.Linear(16, outputs))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """The model `small` is that of this file."""
    named_small(monkeypatch, Small())


def inputs_of(kind):
    return Inputs([6] if kind == "table" else [1, 8, 8], [], [], 1.0)


def extractor(kind, rng):
    with _decoder.seeded(rng):
        return Small().bottom(inputs_of(kind))


def represented(network, x):
    with torch.no_grad():
        return network({"x": torch.from_numpy(x.astype(np.float32))})[1].numpy()


def device(kind, values, network, rng):
    """g_Psi (P,) of a device that trained it on rows of its own, represented by an extractor."""
    x, attribute = people(kind, values, 300, rng, True)
    features, own = torch.from_numpy(represented(network, x)), torch.from_numpy(attribute)
    with _decoder.seeded(rng):
        top = Small().top(inputs_of(kind), values)
    loss = lambda rows: nn.functional.cross_entropy(top(features[rows], {}), own[rows])  # noqa: E731
    _decoder.train(top, loss, len(own), _decoder.Recipe(30, 32, 0.01, 0.0), rng)
    return flattened(top)


@functools.cache
def shown(kind, values, carried=True, fresh=True):
    """What is in a transcript, and the truth about the attacked rows; `fresh`: the devices saw this very extractor."""
    rng = generator("test_federated_attacks", kind, values, carried)
    network, before = extractor(kind, rng), extractor(kind, rng)
    (x, known), (y, attribute) = (people(kind, values, rows, rng, carried) for rows in (600, 300))
    content = json.dumps({"model": {"use": "small"}, "inputs": asdict(inputs_of(kind))})
    seen = {
        "known": represented(network, x), "known_attribute": known, "inputs": x, "attacked": represented(network, y),
        "values": np.array(values), "architecture": np.frombuffer(content.encode(), dtype=np.uint8),
        "inner": np.stack([device(kind, values, network if fresh else before, rng) for _ in range(DEVICES)]),
    }  # fmt: skip
    return seen, attribute


def case_of(name, seen):
    """What the first adversary of an attack sees."""
    target = plugins.method("attack", name).constants["target"]
    return next(iter(plugins.create("protocol", "federated").cases(seen, target)))[1]


def view_of(name, seen):
    return View(name, plugins.method("attack", name).constants["sees"], seen, generator("federated", name, 0))


def made(name, **own):
    return plugins.create("attack", name, (SHORT if name == "retrained" else OTHER[name]) | own)


def infer(name, seen, **own):
    return made(name, **own).infer(view_of(name, case_of(name, seen)))


def own_guess(guess):
    return guess[""] if isinstance(guess, dict) else guess


def rows_of(name, seen, truth):
    """All rows that are measured of an attack."""
    protocol = plugins.create("protocol", "federated")
    return scores.measured(made(name), protocol, {"attribute": truth}, "cpu", seen, ("s", "none", "", name, 0))


def mean(rows, metric="attack_accuracy"):
    return np.mean([row["value"] for row in rows if row["metric"] == metric])


# retrained.


@every_case
def test_an_attribute_that_the_representations_carry_is_found_by_every_capacity(kind, values):
    seen, truth = shown(kind, values)
    guesses = infer("retrained", seen)
    for name in ["", *CAPACITIES]:
        found = attribute_leak(guesses[name], truth)
        assert found["attack_accuracy"] > (1 + found["majority"]) / 2  # half of what a guess leaves
        assert found["attack_auc"] > 0.85


@every_case
def test_without_information_the_share_of_the_most_common_value_is_reached_and_no_more(kind, values):
    seen, truth = shown(kind, values, carried=False)
    found = attribute_leak(infer("retrained", seen)[""], truth)
    deviation = np.sqrt(found["majority"] * (1 - found["majority"]) / len(truth))
    assert abs(found["attack_accuracy"] - found["majority"]) < 2 * deviation
    assert found["attack_accuracy_max"] >= found["majority"] - 1e-12


def test_representations_that_are_all_alike_give_the_guess_of_the_majority():
    seen, truth = shown("table", 3)
    blank = seen | {part: np.ones_like(seen[part]) for part in ("known", "attacked")}
    found = attribute_leak(infer("retrained", blank)[""], truth)
    assert found["attack_accuracy"] == found["majority"]
    assert found["attack_auc"] == 0.5


@every_case
def test_the_own_guess_is_that_of_the_least_loss_on_rows_that_none_was_trained_on(kind, values, monkeypatch):
    """Whichever: each in turn is made the one of least loss."""
    seen, truth = shown(kind, values)
    for place, name in enumerate(["prior", *CAPACITIES]):
        losses = iter([float(i != place) for i in range(4)])
        asked = []
        monkeypatch.setattr(retrained, "cross_entropy", lambda scores, own: asked.append(own) or next(losses))  # noqa: B023
        guesses = infer("retrained", seen, epochs=1)
        assert guesses[""].shape == (4, len(truth), values)
        if name != "prior":
            np.testing.assert_array_equal(guesses[""][-1], guesses[name])
        else:
            assert (guesses[""][-1] == guesses[""][-1][0]).all()
        assert [len(own) for own in asked] == [60] * 4  # a tenth of 600


def test_what_chooses_is_not_what_was_trained_on(monkeypatch):
    seen, _ = shown("table", 2)
    marked = seen | {"known": seen["known"] + 1000 * np.arange(600, dtype=np.float32)[:, None]}
    trained, asked = [], []
    monkeypatch.setattr(retrained, "fitted", lambda network, features, *_: trained.append(features[:, 0]))
    monkeypatch.setattr(retrained, "probabilities", lambda _, rows: asked.append(rows[:, 0]) or np.ones((len(rows), 2)))
    infer("retrained", marked)
    places = [{round(float(x) / 1000) for x in rows} for rows in (trained[0], asked[1])]
    assert all(torch.equal(rows, trained[0]) for rows in trained)
    assert not places[0] & places[1]
    assert len(trained[0]) == 540


def test_the_networks_are_one_of_the_devices_shape_and_a_wide_one(monkeypatch):
    seen, trained = shown("images", 2)[0], []
    monkeypatch.setattr(retrained, "fitted", lambda network, *_: trained.append(network.network))
    infer("retrained", seen)
    sizes = [sum(p.numel() for p in network.parameters()) for network in trained]
    assert sizes[0] == sum(p.numel() for p in Small().top(inputs_of("images"), 2).parameters())
    assert sizes[1] == (16 + 1) * 32 + (32 + 1) * 32 + (32 + 1) * 2  # 2 x 2 averages of 4 channels, two layers of 32


def test_the_choice_and_each_capacity_have_rows_of_their_own_and_all_together_a_largest():
    seen, truth = shown("images", 2)
    metrics = {row["metric"]: row["value"] for row in rows_of("retrained", seen, truth)}
    for name in CAPACITIES:
        assert metrics["attack_accuracy_max"] >= metrics[f"attack_accuracy_{name}"]
    assert metrics["attack_accuracy"] in [metrics[f"attack_accuracy_{name}"] for name in CAPACITIES]
    assert {"majority", "attack_auc", "attack_balanced_accuracy"} <= metrics.keys()


@pytest.mark.parametrize(("shape", "inner"), [((5, 7), 7), ((5, 3, 8, 8), 12), ((5, 3, 1, 1), 3), ((5, 3, 1, 4), 6)])
def test_vectors_of_images_are_averages_over_parts_of_each_channel(shape, inner):
    features = torch.from_numpy(generator("pooled").standard_normal(shape)).float()
    vectors = retrained.pooled(features)
    assert vectors.shape == (5, inner)
    assert vectors.mean().item() == pytest.approx(features.mean().item(), abs=1e-6)


def test_a_value_that_no_known_row_has_can_still_be_asked_for():
    seen, truth = shown("table", 3)
    few = seen | {"known_attribute": np.minimum(seen["known_attribute"], 1)}
    assert np.isfinite(attribute_leak(infer("retrained", few, epochs=2)[""], truth)["attack_auc"])


def test_where_all_known_rows_have_one_value_it_is_the_guess():
    seen, _ = shown("table", 3)
    guesses = infer("retrained", seen | {"known_attribute": np.ones(600, dtype=np.int64)}, epochs=5)
    assert (guesses[""][-1].argmax(axis=1) == 1).all()
    assert (guesses["linear"].argmax(axis=1) == 1).all()


# stale.


@every_case
def test_a_network_that_saw_an_older_extractor_infers_less_than_a_retrained_adversary(kind, values):
    seen, truth = shown(kind, values, fresh=False)
    old, new = (mean(rows_of(name, seen, truth)) for name in ("stale", "retrained"))
    assert old < new - 0.1


@every_case
def test_a_network_that_saw_this_extractor_infers_the_attribute(kind, values):
    seen, truth = shown(kind, values)
    found = rows_of("stale", seen, truth)
    assert mean(found) > (1 + mean(found, "majority")) / 2


def test_every_device_is_an_adversary_and_tables_show_the_mean():
    seen, truth = shown("table", 2, fresh=False)
    found = [row for row in rows_of("stale", seen, truth) if row["metric"] == "attack_accuracy"]
    assert [row["device"] for row in found] == list(range(DEVICES))
    with_each = [rows_of("stale", seen | {"inner": seen["inner"][i : i + 1]}, truth) for i in range(DEVICES)]
    assert [row["value"] for row in found] == [mean(rows) for rows in with_each]
    assert len({row["value"] for row in found}) > 1


def test_a_device_s_network_is_asked_as_it_was_kept():
    seen, _ = shown("images", 2)
    top = Small().top(inputs_of("images"), 2)
    filled(top, seen["inner"][0])
    expected = _decoder.probabilities(top, torch.from_numpy(seen["attacked"]))
    np.testing.assert_array_equal(infer("stale", seen), expected)


def test_only_so_many_devices_are_asked_as_are_wanted():
    seen, _ = shown("table", 2)
    protocol = plugins.create("protocol", "federated")
    cases = list(protocol.cases(seen, "attribute_by_device"))
    assert made("stale").chosen(cases) == cases
    assert made("stale", devices=2).chosen(cases) == cases[:2]


def test_without_inference_networks_on_the_devices_stale_says_so():
    seen, truth = shown("table", 2)
    without = {part: value for part, value in seen.items() if part != "inner"}
    (row,) = rows_of("stale", without, truth)
    assert row["skipped"] == "for defenses whose devices train a network that predicts the attribute"


# decensoring, of which test_attribute_attacks says the rest.


def test_decensoring_takes_the_rows_behind_the_known_representations():
    seen, truth = shown("table", 2)
    found = attribute_leak(infer("decensoring", seen), truth)
    assert found["attack_accuracy"] > (1 + found["majority"]) / 2
    without = {part: value for part, value in seen.items() if part != "inputs"}
    assert made("decensoring").skip(view_of("decensoring", without)).startswith("for adversaries with the auxiliary")


# What all guarantee.


@every_attack
@every_case
def test_a_guess_is_a_row_of_probabilities_for_each_row(name, kind, values):
    seen, truth = shown(kind, values)
    guesses = infer(name, seen, **({} if name == "stale" else {"epochs": 1}))
    assert name != "retrained" or list(guesses) == ["", *CAPACITIES]
    for guess in guesses.values() if isinstance(guesses, dict) else [guesses]:
        assert guess.shape[-2:] == (len(truth), values)
        assert guess.dtype == np.float64
        assert guess.min() >= 0
        np.testing.assert_allclose(guess.sum(axis=-1), 1, atol=1e-12)


@pytest.mark.parametrize("name", ["retrained", "decensoring"])
def test_what_is_known_of_the_attribute_is_what_is_learned_from(name):
    seen, truth = shown("table", 2)
    swapped = seen | {"known_attribute": 1 - seen["known_attribute"]}
    assert attribute_leak(own_guess(infer(name, swapped)), truth)["attack_auc"] < 0.15
