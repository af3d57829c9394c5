"""The attacks on attributes: on features of small encoders that carry an attribute, and on features that do not."""

from __future__ import annotations

import functools
import json
from dataclasses import asdict, dataclass

import numpy as np
import pytest
import torch
from tests.games.people import Bottom, Layered, Top, named_small
from tests.games.people import people as made_up
from torch import nn

from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.attributes import decoder as _decoder
from cutlayer.games.attributes.attacks import decensoring
from cutlayer.games.attributes.decoders import decoders
from cutlayer.games.base.model import Inputs
from cutlayer.games.base.snapshot import parsed
from cutlayer.games.split_server.attacks import _simulator
from cutlayer.metrics.attributes import attribute_leak
from cutlayer.plan import plugins

EPOCHS = 3  # of the training overheard
ROWS = {"attacked": 300, "known": 600, "intercepted": 300, "poison": 600}
SHORT = {  # the attacks' own defaults are for thousands of rows
    "basic": {"epochs": 40, "batch": 64, "rate": 0.003},
    "decensoring": {"epochs": 30, "batch": 64, "rate": 0.003},
    "dpa": {"epochs": 40, "batch": 64, "rate": 0.003},
    "dsa": {"epochs": 6, "batch": 64, "width": 16},
}
CASES = [  # attack, kind of features, number of values
    ("basic", "table", 2), ("basic", "table", 3), ("basic", "images", 2),
    ("decensoring", "table", 2), ("decensoring", "table", 3), ("decensoring", "images", 2),
    ("dpa", "table", 2), ("dpa", "table", 3), ("dpa", "images", 2),
    ("dsa", "images", 2),
]  # fmt: skip
every_case = pytest.mark.parametrize(("name", "kind", "values"), CASES)
NAMES = list(SHORT)
trainings = pytest.mark.parametrize(("name", "kind"), [("dpa", "table"), ("dsa", "images")])


@dataclass(frozen=True)
class Small(Layered):
    """6 numbers to 4, or images of 8 x 8 to 4 channels of 2 x 2."""

    def bottom(self, inputs):
        if len(inputs.shape) == 1:
            return Bottom(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4), nn.BatchNorm1d(4, affine=False))
        return Bottom(nn.Conv2d(1, 4, 4, stride=4), nn.BatchNorm2d(4, affine=False))

    def top(self, inputs, outputs):
        first = [nn.Linear(4, 16)] if len(inputs.shape) == 1 else [nn.Flatten(), nn.Linear(16, 16)]
        return Top(*first, nn.ReLU(), nn.Linear(16, outputs))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """The model `small` is that of this file."""
    named_small(monkeypatch, Small())


def architecture(shape):
    content = {"model": {"use": "small"}, "inputs": asdict(Inputs(list(shape), [], [], 1.0))}
    return np.frombuffer(json.dumps(content).encode(), dtype=np.uint8)


def people(kind, values, rows, rng, carried=True):
    """Those of all tests; their images have a corner in common."""
    x, attribute = made_up(kind, values, rows, rng, carried)
    if kind != "table":
        x[:, :, 6:, 6:] += 1
    return x, attribute


def sent(encoder, x, noise, rng):
    with torch.no_grad():
        features = encoder({"x": torch.from_numpy(x.astype(np.float32))})[1].numpy()
    return (features + noise * rng.standard_normal(features.shape)).astype(np.float32)


def encoders(kind, rng, count):
    """Encoders as they would be after each epoch: random ones, each near the one before."""
    inputs = parsed(architecture((6,) if kind == "table" else (1, 8, 8)))[1]
    with _decoder.seeded(rng):
        encoder = Small().bottom(inputs)
        for _ in range(count):
            yield encoder
            with torch.no_grad():
                for parameter in encoder.parameters():
                    parameter += 0.02 * torch.randn(parameter.shape)


@functools.cache
def shown(name, kind, values, carried=True, noise=0.1):
    """What an adversary sees, the truth about the attacked rows, and what it must not see."""
    rng = generator("test_attribute_attacks", name, kind, values, carried, noise)
    data = {part: people(kind, values, rows, rng, carried) for part, rows in ROWS.items()}
    (x, known), (poison, poisoned) = data["known"], data["poison"]
    seen = {"values": np.array(values), "architecture": architecture(x.shape[1:])}
    seen |= {"inputs": x, "known_attribute": known}
    if plugins.method("attack", name).constants["target"] == "attribute":
        (encoder,) = encoders(kind, rng, 1)
        seen |= {part: sent(encoder, data[part][0], noise, rng) for part in ("known", "attacked")}
        return seen, data["attacked"][1]
    each = [
        [sent(e, part, noise, rng) for part in (data["intercepted"][0], poison)] for e in encoders(kind, rng, EPOCHS)
    ]
    seen |= {"intercepted": np.stack([e[0] for e in each]), "poison": np.stack([e[1] for e in each])}
    return seen | {"poison_attribute": poisoned, "noise": np.array(noise)}, data["intercepted"][1]


def view_of(name, seen, seed=0):
    return View(name, plugins.method("attack", name).constants["sees"], seen, generator("attribute", name, seed))


def infer(name, seen, seed=0, **own):
    return plugins.create("attack", name, SHORT[name] | own).infer(view_of(name, seen, seed))


# What each guarantees.


@every_case
def test_an_attribute_that_the_features_carry_is_found(name, kind, values):
    seen, truth = shown(name, kind, values)
    seeds = range(3 if name == "dsa" else 1)  # what deceives a discriminator need not be the clients' encoder
    found = [attribute_leak(infer(name, seen, seed), truth) for seed in seeds]
    majority = found[0]["majority"]
    assert np.mean([one["attack_accuracy"] for one in found]) > (1 + majority) / 2  # half of what a guess leaves
    assert np.mean([one["attack_auc"] for one in found]) > 0.85


@every_case
def test_an_attribute_that_the_features_do_not_carry_is_guessed_no_better_than_the_majority(name, kind, values):
    seen, truth = shown(name, kind, values, carried=False)
    found = attribute_leak(infer(name, seen), truth)
    deviation = np.sqrt(found["majority"] * (1 - found["majority"]) / len(truth))
    assert found["attack_accuracy"] < found["majority"] + 3 * deviation
    assert found["attack_accuracy"] > found["majority"] - 0.15  # it has not learned its rows by heart
    assert abs(found["attack_auc"] - 0.5) < 0.12  # some 3.5 deviations of a useless score


@every_case
def test_a_guess_is_a_row_of_probabilities_for_each_row(name, kind, values):
    seen, truth = shown(name, kind, values)
    guess = infer(name, seen, epochs=1)
    epochs = () if "attacked" in plugins.method("attack", name).constants["sees"] else (EPOCHS,)
    assert guess.shape == (*epochs, len(truth), values)
    assert guess.dtype == np.float64
    assert guess.min() >= 0
    np.testing.assert_allclose(guess.sum(axis=-1), 1, atol=1e-12)


@pytest.mark.parametrize("name", ["basic", "decensoring", "dpa"])
def test_what_is_known_of_the_attribute_is_what_is_learned_from(name):
    seen, truth = shown(name, "images", 2)
    swapped = {part: 1 - seen[part] for part in ("known_attribute", "poison_attribute") if part in seen}
    assert attribute_leak(infer(name, seen | swapped), truth)["attack_auc"] < 0.15


def test_dsa_is_for_images_and_decensoring_for_those_who_have_the_rows():
    for kind, applies in (("images", True), ("table", False)):
        seen, _ = shown("dsa", kind, 2)
        reason = plugins.create("attack", "dsa").skip(view_of("dsa", seen))
        assert reason == ("" if applies else "for images, here the features of a row are a vector")
    seen, _ = shown("decensoring", "table", 2)
    assert not plugins.create("attack", "decensoring").skip(view_of("decensoring", seen))
    without = {part: value for part, value in seen.items() if part != "inputs"}
    reason = plugins.create("attack", "decensoring").skip(view_of("decensoring", without))
    assert reason == "for adversaries with the auxiliary rows, here there are only features"


def test_dpa_is_for_setups_with_poison():
    needs = {name: plugins.method("attack", name).constants["needs"] for name in NAMES}
    assert needs == {"basic": set(), "decensoring": set(), "dsa": set(), "dpa": {"poison"}}


@trainings
def test_what_is_guessed_after_an_epoch_does_not_depend_on_later_ones(name, kind):
    seen, _ = shown(name, kind, 2)
    first = seen | {part: seen[part][:2] for part in ("intercepted", "poison")}
    np.testing.assert_array_equal(infer(name, first, epochs=2), infer(name, seen, epochs=2)[:2])


def test_dsa_goes_on_from_epoch_to_epoch():
    """Two epochs that send the same are one of twice the length."""
    seen, _ = shown("dsa", "images", 2)
    once, twice = (seen | {"intercepted": np.repeat(seen["intercepted"][:1], times, axis=0)} for times in (1, 2))
    np.testing.assert_array_equal(infer("dsa", once, epochs=4)[0], infer("dsa", twice, epochs=2)[1])


# The parts of dsa.


def simulator_of(seen, seed=0):
    return _simulator.Simulator(view_of("dsa", seen, seed), plugins.create("attack", "dsa").rate, 16)


def test_what_is_decoded_does_not_move_the_shadow_encoder():
    seen, _ = shown("dsa", "images", 2)
    real = torch.from_numpy(seen["intercepted"][0])
    parameters = []
    for attribute in (seen["known_attribute"], 1 - seen["known_attribute"]):
        simulator = simulator_of(seen | {"known_attribute": attribute})
        simulator.attack_epoch(real, 1, 64)
        parameters.append([p.detach() for p in simulator.shadow.parameters()])
    for one, other in zip(*parameters, strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("sigma", [0.0, 10.0])
def test_the_shadow_features_have_the_noise_that_the_clients_announce(monkeypatch, sigma):
    seen, _ = shown("dsa", "images", 2)
    simulator, given = simulator_of(seen | {"noise": np.array(sigma)}), []
    monkeypatch.setattr(simulator.discriminator, "forward", lambda features: given.append(features) or features)
    monkeypatch.setattr(_simulator, "descend", lambda optimizer, loss: None)
    rows = torch.arange(600)
    simulator._step(rows, torch.zeros(1))
    noise = (given[1] - simulator.shadow(simulator.x)[1]).detach()
    assert float(noise.std()) == pytest.approx(sigma, rel=0.05, abs=1e-6)


def test_the_shadow_encoder_s_features_come_nearer_to_the_intercepted_ones():
    seen, _ = shown("dsa", "images", 2)
    real, apart = torch.from_numpy(seen["intercepted"][0]), []
    for seed in range(3):
        simulator = simulator_of(seen, seed)  # at a higher rate the two networks chase each other in circles
        apart.append([])
        for epochs in (0, 16):
            simulator.attack_epoch(real, epochs, 64)
            with torch.no_grad():
                fake = simulator.shadow(simulator.x)[1]
            apart[-1].append(float((fake.mean(dim=0) - real.mean(dim=0)).norm()))  # where in the image, on average
    before, after = np.mean(apart, axis=0)
    assert after < 0.7 * before


def test_the_discriminator_takes_features_of_any_size():
    for height, width in ((1, 1), (2, 3), (4, 4), (9, 5)):
        assert _simulator.Discriminator((3, height, width), 4)(torch.zeros(2, 3, height, width)).shape == (2, 1)


# The parts of decensoring.


def test_the_transformation_brings_features_near_those_of_the_uncensored_model():
    seen, _ = shown("decensoring", "table", 2)
    view, recipe = view_of("decensoring", seen), _decoder.Recipe(30, 64, 0.005, 0.1)
    known, attribute = torch.from_numpy(seen["known"]), torch.from_numpy(seen["known_attribute"])
    goal = decensoring.uncensored(view, attribute, recipe)
    network = decensoring.transformation(view, known, goal, recipe)
    with torch.no_grad():
        error = (network(known) - goal).square().mean()
    assert goal.shape == known.shape
    assert error < 0.7 * (goal - goal.mean(dim=0)).square().mean()


def test_the_uncensored_model_is_trained_on_the_attribute():
    """Its features tell the attribute better than those of an encoder nobody trained."""
    seen, _ = shown("decensoring", "table", 2)
    attribute = torch.from_numpy(seen["known_attribute"])
    apart = []
    for epochs, rate in ((1, 0.0), (30, 0.005)):
        recipe = _decoder.Recipe(epochs, 64, rate, 0.1)
        features = decensoring.uncensored(view_of("decensoring", seen), attribute, recipe)
        means = [features[attribute == value].mean(dim=0) for value in (0, 1)]
        apart.append(float((means[1] - means[0]).norm()))
    assert apart[1] > apart[0]


# How a network is trained.


class Point(nn.Module):
    """A single number."""

    def __init__(self):
        super().__init__()
        self.at = nn.Parameter(torch.zeros(()))


def test_rows_held_back_are_never_trained_on_and_choose_the_epoch():
    network, trained, measured = Point(), [], []
    goal = torch.arange(40.0)

    def loss(rows):
        (trained if torch.is_grad_enabled() else measured).append((rows.numpy(), network.at.item()))
        return (network.at - goal[rows]).square().mean()

    _decoder.train(network, loss, 40, _decoder.Recipe(30, 8, 2.0, 0.25), generator("held"))
    learned = set(np.concatenate([rows for rows, _ in trained]))
    held = set(measured[0][0])
    assert len(held) == 10
    assert learned == set(range(40)) - held
    assert all(set(rows) == held for rows, _ in measured)
    mean = goal[list(held)].mean().item()
    assert network.at.item() == min((at for _, at in measured), key=lambda at: abs(at - mean))
    assert len(measured) == 30


def test_without_rows_held_back_the_last_epoch_counts():
    network, seen = Point(), []

    def loss(rows):
        seen.append(len(rows))
        return network.at - network.at.detach()  # gradient 1: every step of Adam is one `rate` down

    _decoder.train(network, loss, 10, _decoder.Recipe(3, 4, 0.5, 0.0), generator("all"))
    assert seen == [4, 3, 3] * 3
    assert network.at.item() == pytest.approx(-0.5 * 9)
    assert not network.training


def test_a_pass_has_every_place_once():
    places = np.arange(100, 111)
    for size in (1, 4, 5, 11, 50):
        batches = _decoder.shuffled_batches(places, size, generator("pass", size))
        assert max(map(len, batches)) <= size
        assert max(map(len, batches)) - min(map(len, batches)) <= 1
        assert sorted(torch.cat(batches).tolist()) == places.tolist()


@pytest.mark.parametrize("shape", [(50, 3), (50, 3, 2, 4)])
def test_a_decoder_s_inputs_have_mean_0_and_variance_1_in_each_coordinate_or_channel(shape):
    features = 100 + 10 * torch.from_numpy(generator("standardized").standard_normal(shape)).float()
    features[:, 1] = 7.0  # says nothing
    network = _decoder.Standardized(nn.Identity())
    network.adapt(features)
    inner = network(features).double().transpose(0, 1).flatten(1)
    np.testing.assert_allclose(inner.mean(dim=1), 0, atol=1e-4)
    np.testing.assert_allclose(inner.var(dim=1, correction=0), [1, 0, 1], atol=1e-4)


@pytest.mark.parametrize("held", [0.0, 0.1])
@pytest.mark.parametrize(("kind", "values"), [("table", 3), ("images", 2)])
def test_decoders_side_by_side_are_those_that_are_trained_one_after_the_other(kind, values, held):
    seen, _ = shown("dpa", kind, values)
    recipe = _decoder.Recipe(epochs=12, batch=64, rate=0.003, held=held, standardized=bool(held))
    view, again = view_of("dpa", seen), view_of("dpa", seen)
    poison, attribute, asked = (torch.tensor(seen[part]) for part in ("poison", "poison_attribute", "intercepted"))
    together = decoders(view, poison, attribute, recipe)(asked)
    alone = [
        _decoder.probabilities(_decoder.decoder(again, own, attribute, recipe), rows)
        for own, rows in zip(poison, asked, strict=True)
    ]
    assert together.shape == (EPOCHS, ROWS["intercepted"], values)
    np.testing.assert_allclose(together, alone, atol=1e-4)
    assert view.rng.random() == again.rng.random()


@pytest.mark.parametrize("name", ["basic", "dpa"])
def test_neither_shift_nor_scale_of_the_features_matters(name):
    seen, truth = shown(name, "table", 2)
    moved = {part: 1000 * seen[part] + 300 for part in ("known", "attacked", "intercepted", "poison") if part in seen}
    ours, theirs = (attribute_leak(infer(name, s), truth)["attack_auc"] for s in (seen, seen | moved))
    assert ours == pytest.approx(theirs, abs=0.02)


@pytest.mark.parametrize("name", ["basic", "dpa"])
def test_decoders_of_features_as_they_are_infer_less_of_small_ones(name):
    seen, truth = shown(name, "table", 2)
    small = {part: 1e-4 * seen[part] for part in ("known", "attacked", "intercepted", "poison") if part in seen}
    standardized, plain = (
        attribute_leak(infer(name, seen | small, standardized=own), truth)["attack_accuracy"] for own in (True, False)
    )
    assert plain < standardized - 0.1


def test_what_an_architecture_says_is_the_model_and_its_inputs():
    text = {
        "model": {"use": "cnn", "width": 5},
        "inputs": {"shape": [4, 4], "numeric": [], "categorical": [], "scale": 2},
    }
    model, inputs = parsed(np.frombuffer(json.dumps(text).encode(), dtype=np.uint8))
    assert model == plugins.create("model", "cnn", {"width": 5})
    assert inputs == Inputs([4, 4], [], [], 2)
