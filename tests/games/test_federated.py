"""The federated protocol: devices at once train as they would one after the other; the server averages, and looks."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.data.datasets.base import Table
from cutlayer.games.base.model import Inputs
from cutlayer.games.base.protocol import Task
from cutlayer.games.base.snapshot import parsed
from cutlayer.games.federated import convolutions
from cutlayer.games.federated import protocol as federated
from cutlayer.games.federated.data import first, participants, prepared
from cutlayer.games.federated.defense import Defense
from cutlayer.games.federated.defenses.none import NoDefense
from cutlayer.games.federated.defenses.send_nothing import SendNothing
from cutlayer.games.federated.local import weighted
from cutlayer.games.federated.records import FederatedRecords
from cutlayer.games.federated.stacked import Stack
from cutlayer.plan import plugins

PROTOCOL = plugins.create("protocol", "federated")
SETTINGS = {
    "protocol": "federated", "dataset": "made", "sensitive": "group", "devices": 6, "participation": 0.5, "rounds": 3,
    "local_epochs": 2, "batch": 8, "rate": 0.05, "pretraining": 2, "average": "plain", "records": {}, "head_epochs": 5,
    "model": {"use": "fully_connected", "width": 8, "trunk": 8, "depth": 2},
}  # fmt: skip
SMALL_VGG = {"use": "vgg", "channels": 4, "group": 1, "shrink": 2}


@dataclass(frozen=True)
class Everything(Defense):
    """All networks, a regularizer and an upload that is not what was trained."""

    @property
    def roles(self):
        return {"privacy": -0.5, "utility": 0.3, "task": 0.2}

    def regularizer(self, features, attribute, mask, values):
        return 0.01 * (features.flatten(2).square().mean(2) * mask).sum(1)

    def upload(self, before, after, federation):
        return after + 0.01 * federation.randn(*after.shape)

    def spent(self, federation):
        return {"epsilon": float(federation.rounds * federation.participants)}


def table(rows=150):
    """Three numbers and two codes, one of them sensitive."""
    draw = generator("test_federated", rows)
    numbers, codes = draw.random((rows, 3)), draw.integers(0, 3, (rows, 2))
    labels = (numbers[:, 0] + 0.3 * codes[:, 0] > 0.7).astype(np.int64)
    names = ("x", "y", "z", "c", "group")
    return Table(np.hstack([numbers, codes]), labels, {"group": codes[:, 1]}, names, ("c", "group"), 2)


def images(rows=100):
    draw = generator("test_federated", "images", rows)
    pixels = draw.integers(0, 256, (rows, 3, 16, 16)).astype(np.uint8)
    return Table(pixels, draw.integers(0, 2, rows), {"group": draw.integers(0, 2, rows)}, (), (), 2)


def task(defense=None, own=None, seed=0, **settings):
    return Task("made", "none", seed, own or table(), SETTINGS | settings, {"": defense or NoDefense()})


def results(made, defense, at_once):
    """The extractor and all devices' networks after pre-training and training."""
    data = prepared(made)
    extractor, kept = federated.pretrained(made, data, at_once)
    return federated.train(made, "", defense, data, extractor, kept, at_once)


@pytest.mark.parametrize(
    ("own", "settings"),
    [
        (table, {}),
        (table, {"average": "weighted", "imbalance": 1.0}),
        (table, {"participation": 1.0, "batch": 500}),
        (images, {"model": SMALL_VGG, "imbalance": 0.5}),
        (table, {"average": "weighted", "imbalance": 1.0, "participants": "averaged"}),
    ],
    ids=["equal devices", "weighted, unequal devices", "everyone, whole batches", "images", "everyone trains"],
)
def test_devices_at_once_give_what_the_loop_over_devices_gives(own, settings):
    made, defense = task(own=own(), **settings), Everything()
    (at_once, kept), (looped, reference) = (results(made, defense, way) for way in (True, False))
    torch.testing.assert_close(at_once, looped, atol=1e-5, rtol=0)
    assert kept.keys() == reference.keys() == {"privacy", "utility", "task"}
    for role in kept:
        assert kept[role].keys() == reference[role].keys()
        for device in kept[role]:
            torch.testing.assert_close(kept[role][device], reference[role][device], atol=1e-5, rtol=0)


def test_training_moves_what_it_should():
    made, defense = task(), Everything()
    data = prepared(made)
    start, kept = federated.pretrained(made, data)
    end, own = federated.train(made, "", defense, data, start, kept)
    assert not torch.equal(start, end)
    assert kept.keys() == {"utility"}  # what is kept from before is not changed by a training
    trained = {int(device) for turn in range(3) for device in participants(made, federated.ROUND, turn)}
    assert own["privacy"].keys() == trained
    assert len({tuple(values.tolist()) for values in own["privacy"].values()}) == len(trained)


def test_where_every_device_trains_the_server_averages_those_it_selects():
    """After one round the extractor is the same, and all have networks that were trained, as algorithm 1 has it."""
    found = {
        way: results(task(rounds=1, pretraining=0, participants=way), Everything(), at_once=False)
        for way in ("selected", "averaged")
    }
    (few, own), (all_train, everyones) = found["selected"], found["averaged"]
    assert torch.equal(few, all_train)
    assert everyones["privacy"].keys() == {*range(6)}
    assert len({tuple(values.tolist()) for values in everyones["privacy"].values()}) == 6
    for device, values in own["privacy"].items():
        assert torch.equal(values, everyones["privacy"][device])


def test_participants_are_selected_unless_a_setup_says_otherwise():
    (extractor, kept), (other, others), (averaged, _) = (
        results(task(**own), Everything(), at_once=True)
        for own in ({}, {"participants": "selected"}, {"participants": "averaged"})
    )
    assert torch.equal(extractor, other)
    assert not torch.equal(extractor, averaged)
    for device, values in kept["privacy"].items():
        assert torch.equal(values, others["privacy"][device])


@pytest.mark.parametrize("way", ["utility", "task"])
def test_a_pretraining_is_with_one_network_for_what_the_setup_says(way):
    made = task(pretrained_for=way)
    extractor, kept = federated.pretrained(made, prepared(made))
    assert kept.keys() == {way}
    plain, _ = federated.pretrained(task(), prepared(task()))
    assert torch.equal(extractor, plain) == (way == "utility")


def test_a_head_is_trained_on_all_rows_or_by_each_device_on_its_own():
    """Of the same representations; a head of a device's own 40 rows is worse than one of all 1200."""
    found = {}
    for way in ("all", "device"):
        settings = {"devices": 30, "participation": 0.1, "rounds": 1, "pretraining": 0, "head_epochs": 100}
        outcome = PROTOCOL.run(task(own=table(1500), head_rows=way, **settings))
        (found[way],) = (row["value"] for row in outcome.utility if row["metric"] == "test_accuracy")
    assert 0.5 < found["device"] < found["all"] - 0.02


@pytest.mark.parametrize(
    ("other", "alike"),
    [
        (lambda made: {"variant": "other", "defenses": {"": Everything()}}, True),
        (lambda made: {"seed": 1}, False),
        (lambda made: {"setup": "another"}, False),
        (lambda made: {"settings": made.settings | {"pretraining": 1}}, False),
        (lambda made: {"table": table(180)}, False),
    ],
    ids=["defense", "seed", "setup", "settings", "table"],
)
def test_a_protocol_pretrains_once_for_all_defenses_of_a_setup_and_seed(other, alike, monkeypatch):
    """As matching does, which tries strength after strength."""
    made, calls, pretrained = task(), [], federated.pretrained

    def counted(own, data):
        calls.append(own)
        return pretrained(own, data)

    monkeypatch.setattr(federated, "pretrained", counted)
    tasks, protocol = [made, dataclasses.replace(made, **other(made))], federated.Federated()
    shared = [protocol.run(each) for each in tasks]
    assert len(calls) == (1 if alike else 2)
    for each, outcome in zip(tasks, shared, strict=True):
        alone = federated.Federated().run(each)
        assert alone.utility == outcome.utility
        for name, array in alone.transcripts[""].items():
            np.testing.assert_array_equal(array, outcome.transcripts[""][name])


def test_where_tappfl_s_utility_network_has_no_say_it_may_be_left_out():
    """What was measured at lambda = 1 at the published size (docs/readings/tappfl.md) is that of `at`."""
    made, whole = task(), plugins.create("defense", "tappfl", {"weight": 1.0}, "federated")
    without = plugins.create("defense", "at", {"weight": 1.0}, "federated")
    (extractor, kept), (other, others) = (results(made, defense, True) for defense in (whole, without))
    torch.testing.assert_close(extractor, other, atol=1e-6, rtol=0)
    assert kept["privacy"].keys() == others["privacy"].keys()
    for device, values in kept["privacy"].items():
        torch.testing.assert_close(values, others["privacy"][device], atol=1e-6, rtol=0)
    start, _ = federated.pretrained(made, prepared(made))
    assert not torch.allclose(extractor, start, atol=1e-3)  # it moved


def test_a_stack_is_its_members():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(12, 2))
    stack, x = Stack(net, 4), torch.randn(4, 5, 2, 4, 4)
    values = torch.randn(4, sum(p.numel() for p in net.parameters()))
    stack.load(values)
    assert torch.equal(stack.flattened(), values)
    for member in range(4):
        torch.nn.utils.vector_to_parameters(values[member].clone(), net.parameters())
        torch.testing.assert_close(stack(x)[member], net(x[member]), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("kernel", "padding"), [((3, 3), (1, 1)), ((3, 2), (0, 1)), ((1, 1), (0, 0))])
def test_convolutions_by_products_are_those_by_groups(kernel, padding):
    """A GPU takes the first, a CPU the second; so are their gradients."""
    draw = torch.Generator().manual_seed(0)
    shapes = (4, 5, 2, 6, 7), (4, 3, 2, *kernel), (4, 3)
    given = [torch.randn(shape, generator=draw, dtype=torch.float64, requires_grad=True) for shape in shapes]
    found = []
    for way in (convolutions.by_products, convolutions.by_groups):
        images = way(*given, padding)
        found.append([images, *torch.autograd.grad(images.square().sum(), given)])
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_stack_of_another_layer_is_an_error():
    with pytest.raises(InputError, match=r"stacked\.Stack: has no Tanh; Linear, Conv2d, ReLU, MaxPool2d or Flatten"):
        Stack(nn.Sequential(nn.Linear(2, 2), nn.Tanh()), 3)


@pytest.mark.parametrize("factor", [-0.5, 0.0, 2.0])
def test_an_extractor_feels_a_factor_of_a_loss_and_its_network_all_of_it(factor):
    features, weight = torch.randn(3, requires_grad=True), torch.randn(3, requires_grad=True)
    (weighted(features, factor) @ weight).backward()
    assert torch.equal(weight.grad, features.detach())
    assert torch.equal(torch.zeros(3) if features.grad is None else features.grad, factor * weight.detach())


def test_averages_are_plain_or_by_rows():
    sent = torch.tensor([[0.0, 3.0], [4.0, 3.0]])
    assert federated.averaged(sent, None).tolist() == [2.0, 3.0]
    assert federated.averaged(sent, np.array([1, 3])).tolist() == [3.0, 3.0]


def test_rows_are_split_and_every_device_has_its_own():
    data = prepared(task(imbalance=1.0))
    assert (len(data.train), len(data.test)) == (120, 30)
    assert not {*data.train} & {*data.test}
    places = [data.places(device) for device in range(6)]
    assert sorted(np.concatenate(places)) == [*range(120)]
    assert min(map(len, places)) >= 2
    assert len({*map(len, places)}) > 1
    assert {len(prepared(task()).places(device)) for device in range(6)} == {20}


def test_each_local_epoch_takes_each_row_once():
    made = task()
    data = prepared(made)
    first, second = data.order(made, "round", 0, 2)
    for epoch in (first, second):
        assert sorted(np.concatenate(epoch)) == data.places(2).tolist()
    assert [len(rows) for rows in first] == [8, 8, 4]
    assert np.concatenate(first).tolist() != np.concatenate(second).tolist()


def test_a_round_takes_a_share_of_the_devices():
    turns = [participants(task(), "round", turn) for turn in range(20)]
    assert {len({*turn}) for turn in turns} == {3}
    assert {int(device) for turn in turns for device in turn} == {*range(6)}
    assert len(participants(task(participation=0.01), "round", 0)) == 1


def test_too_few_rows_for_the_devices_are_an_error():
    with pytest.raises(InputError, match=r"run\.made/none/seed0: has 120 training rows for 61 devices; at least 2"):
        prepared(task(devices=61))


def test_the_sensitive_column_is_an_input_only_if_asked_for():
    assert prepared(task()).x.shape[1] == 4
    given = prepared(task(sensitive_among_inputs=True))
    assert given.x.shape[1] == 5
    assert np.array_equal(given.x[:, 4] * 2, given.attribute)


def test_what_the_server_sees_and_what_only_metrics_know():
    outcome = PROTOCOL.run(task(Everything(), known={"rows": 50}, records={"attacked": 20}))
    (seen,) = outcome.transcripts.values()
    assert seen.keys() == {"known", "attacked", "inner"}
    assert seen["known"].shape == (50, 8)
    assert seen["attacked"].shape == (20, 8)
    assert outcome.shared.keys() == {"inputs", "known_attribute", "values", "architecture"}
    assert outcome.truth.keys() == {"attribute", "labels", "attacked_inputs", "known_labels"}
    model, inputs = parsed(outcome.shared["architecture"])
    assert seen["inner"].shape[1] == sum(p.numel() for p in model.top(inputs, 3).parameters())
    metrics = {row["metric"]: row["value"] for row in outcome.utility}
    wanted = {"test_accuracy", "task_majority", "rows", "task_specific", "device_ce", "device_jsd", "epsilon"}
    assert metrics.keys() == wanted
    assert metrics["epsilon"] == 9.0
    assert metrics["task_specific"] == 1.0


def test_representations_are_the_final_extractors():
    made = task(Everything())
    outcome, data = PROTOCOL.run(made), prepared(made)
    extractor, _ = results(made, Everything(), at_once=True)
    network = data.model.extractor(data.inputs)
    torch.nn.utils.vector_to_parameters(extractor, network.parameters())
    with torch.no_grad():
        expected = network(data.encoded(data.test)).numpy()
    np.testing.assert_allclose(outcome.transcripts[""]["attacked"], expected, atol=1e-6)


def test_defenses_without_a_privacy_network_show_none():
    outcome = PROTOCOL.run(task())
    assert "inner" not in outcome.transcripts[""]
    assert "device_ce" not in {row["metric"] for row in outcome.utility}


def test_a_run_repeats_and_seeds_differ():
    first, again, other = (PROTOCOL.run(task(Everything(), seed=seed)) for seed in (0, 0, 1))
    assert first.utility == again.utility
    for name, array in first.transcripts[""].items():
        assert np.array_equal(array, again.transcripts[""][name])
    assert not np.array_equal(first.transcripts[""]["known"], other.transcripts[""]["known"])


def test_a_training_that_diverges_is_an_error():
    with pytest.raises(InputError, match="training diverged; lower the rate or the strength"):
        PROTOCOL.run(task(rate=1e6))


def test_an_extractor_that_is_finite_may_have_diverged_all_the_same():
    @dataclass(frozen=True)
    class Huge(NoDefense):
        def upload(self, before, after, federation):
            return 1e38 * after.sign()

    with pytest.raises(InputError, match=r"run\.made/none/seed0: training diverged: representations are not finite"):
        PROTOCOL.run(task(Huge(), rounds=1))


def test_the_papers_networks_have_their_sizes():
    """Table 3; the utility network's 7.9 million parameters follow from how its inputs are joined here."""
    inputs = Inputs([12], [*range(12)], [], 1.0, [0.0] * 12, [1.0] * 12, [])
    model = plugins.create("model", "fully_connected", {})
    linear = [layer for layer in model.head(inputs, 2) if isinstance(layer, nn.Linear)]
    assert [layer.out_features for layer in linear] == [64, 128, 4, 2]
    parts = model.critic(inputs, 2)
    assert 7.85e6 < sum(p.numel() for part in parts for p in part.parameters()) < 7.95e6
    image = Inputs([3, 32, 32], [], [], 255.0)
    vgg = plugins.create("model", "vgg", {})
    convolutions = [layer.out_channels for layer in vgg.extractor(image) if isinstance(layer, nn.Conv2d)]
    assert convolutions == [64, 64, 128, 128]


@pytest.mark.parametrize(("model", "shape"), [("vgg", [12]), ("vgg", [3, 32, 16])])
def test_a_model_for_other_examples_is_an_error(model, shape):
    with pytest.raises(InputError, match="expected a square image"):
        plugins.create("model", model, {}).extractor(Inputs(shape, [], [], 255.0))


def test_devices_that_send_nothing_leave_the_extractor_as_it_was_drawn_before_pre_training():
    made, data = task(SendNothing()), prepared(task())
    found = PROTOCOL.run(made).transcripts[""]["attacked"]
    extractor, rows = first(made, data, "extractor").eval(), FederatedRecords(made, data)._attacked
    with torch.no_grad():
        np.testing.assert_array_equal(found, extractor(data.encoded(rows)).numpy())
    assert not np.array_equal(found, PROTOCOL.run(task()).transcripts[""]["attacked"])
