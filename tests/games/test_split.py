"""The split protocol: what crosses the cut is what training together would use, and nothing else is shown."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.data.datasets.base import Table
from cutlayer.games.base.protocol import Task
from cutlayer.games.base.snapshot import rebuilt
from cutlayer.games.split import protocol as split
from cutlayer.games.split.data import prepared
from cutlayer.games.split.defense import Defense
from cutlayer.games.split.defenses.none import NoDefense
from cutlayer.games.split.defenses.send_nothing import SendNothing
from cutlayer.games.split.feature_party import FeatureParty
from cutlayer.metrics.leakage import leak_auc
from cutlayer.metrics.utility import utility as of_scores
from cutlayer.plan import plugins
from cutlayer.plan.sweeps import AS_DRAWN
from cutlayer.stages import times
from cutlayer.stages.scores import measured

PROTOCOL = plugins.create("protocol", "split")
DEEP = {"use": "wide_deep", "width": 8, "bottom_layers": 2, "top_layers": 2, "buckets": 11, "embedding": 2}
SETTINGS = {
    "protocol": "split",
    "dataset": "made",
    "model": DEEP,
    "test_share": 0.25,
    "batch": 32,
    "epochs": 2,
    "rate": 0.01,
    "records": {"batches": 3, "at": [2], "first_layer": True, "last_layer": True},
    "known": {"rows": 40, "per_class": 5, "attacked": 20, "watched": 60},
}


def table(rows=240, classes=2, days=1):
    """Two counts and two categories; the label depends on a category."""
    draw = generator("test_split", rows, classes, days)
    counts, codes = draw.integers(0, 50, (rows, 2)), draw.integers(0, 30, (rows, 2))
    labels = (codes[:, 0] + draw.integers(0, 2, rows)) % classes
    features = np.hstack([counts, codes]).astype(np.int32)
    day = np.sort(draw.integers(0, days, rows))
    return Table(features, labels, {"day": day}, ("i1", "i2", "c1", "c2"), ("c1", "c2"), classes)


def task(defenses=None, own=None, variant="none", **settings):
    return Task("made", variant, 0, own or table(), SETTINGS | settings, defenses or {"": NoDefense()})


@dataclass(frozen=True)
class Scaled(Defense):
    """Returns a multiple of every gradient and trains on."""

    by: float = 1.0

    def backward(self, gradient, context):
        return self.by * gradient


@dataclass(frozen=True)
class Noisy(Defense):
    """Draws numbers, so that what is drawn can be compared."""

    def backward(self, gradient, context):
        return gradient + context.training.randn(*gradient.shape)


@dataclass(frozen=True)
class Penalized(Defense):
    """Adds a multiple of the mean squared norm of embeddings to the loss."""

    weight: float = 0.0

    def penalty(self, sent, logits, context):
        return self.weight * sent.square().sum(dim=1).mean()


class Mute(torch.nn.Module):
    """A top model of another width that says nothing once it is no longer trained."""

    def __init__(self, module, width):
        super().__init__()
        self.module, self.entrance = module, torch.nn.Linear(width, width)

    def forward(self, sent, x):
        return self.module(self.entrance(sent), x) * self.training


@dataclass(frozen=True)
class OtherTop(Defense):
    """Puts a layer in front of the top model."""

    def top(self, module, width, training):
        return Mute(module, width)


def joined(parties, x):
    first, embedding = parties.bottom(x)
    return first, embedding, parties.top(embedding, x)


@pytest.mark.parametrize("classes", [2, 3])
def test_what_returns_is_the_gradient_of_each_examples_own_loss(classes):
    own = task(own=table(classes=classes))
    data = prepared(own)
    ((_, defense),) = own.defenses.items()
    parties, rows = split._meet(own, "", defense, data), data.phases[0].batches[0]
    x, seen = data.encode(rows), PROTOCOL.run(own).transcripts[""]
    first, embedding, logits = joined(parties, x)
    loss = torch.nn.functional.cross_entropy(split._complete(logits), data.labels[rows], reduction="none")
    for i in (0, 7, 31):
        at_cut, at_first = torch.autograd.grad(loss[i], [embedding, first], retain_graph=True)
        np.testing.assert_allclose(seen["gradients"][0][i], at_cut[i].numpy(), rtol=1e-4, atol=1e-7)
        np.testing.assert_allclose(seen["first_gradients"][0][i], at_first[i].numpy(), rtol=1e-4, atol=1e-7)


def train(parties, data, parameters):
    """The steps of a run on these parameters alone, as of one model."""
    optimizer = torch.optim.Adam(parameters, lr=SETTINGS["rate"])
    for phase in data.phases:
        for rows in phase.batches:
            optimizer.zero_grad()
            logits = split._complete(joined(parties, data.encode(rows))[2])
            torch.nn.functional.cross_entropy(logits, data.labels[rows]).backward()
            optimizer.step()


def test_without_a_defense_the_parties_train_as_one_model_would():
    own = task()
    data = prepared(own)
    parties = split._meet(own, "", NoDefense(), data)
    train(parties, data, [*parties.bottom.parameters(), *parties.top.parameters()])
    alone = torch.nn.utils.parameters_to_vector(parties.bottom.parameters()).detach().numpy()
    np.testing.assert_allclose(PROTOCOL.run(own).transcripts[""]["snapshots"][-1], alone, rtol=1e-3, atol=1e-4)


def test_of_a_feature_party_that_gets_zeros_only_the_other_party_s_model_is_left():
    """As if the top model were trained alone, on the embeddings of a bottom model as it was drawn."""
    own = task({"": SendNothing()})
    data = prepared(own)
    parties = split._meet(own, "", SendNothing(), data)
    drawn = torch.nn.utils.parameters_to_vector(parties.bottom.parameters()).detach().numpy()
    train(parties, data, [*parties.top.parameters()])
    test = data.phases[-1].test
    scored = of_scores(split._probabilities(parties, data, test), own.table.labels[test])
    alone = {row["metric"]: row["value"] for row in scored}
    outcome = PROTOCOL.run(own)
    for snapshot in outcome.transcripts[""]["snapshots"]:
        np.testing.assert_array_equal(snapshot, drawn)
    found = {row["metric"]: row["value"] for row in outcome.utility}
    assert found["test_log_loss"] == pytest.approx(alone["test_log_loss"], rel=1e-4)
    assert found["test_auc"] == pytest.approx(alone["test_auc"], abs=1e-3)


def test_every_defense_starts_alike_and_sees_the_same_batches():
    outcome = PROTOCOL.run(task({"by=1": Scaled(1.0), "by=0.5": Scaled(0.5)}, variant="scaled"))
    whole, half = outcome.transcripts.values()
    np.testing.assert_array_equal(whole["embeddings"][0], half["embeddings"][0])
    np.testing.assert_array_equal(0.5 * whole["gradients"][0], half["gradients"][0])
    np.testing.assert_array_equal(whole["hints"], half["hints"])
    assert outcome.truth["labels"].shape == (4, 32)
    assert not np.array_equal(outcome.truth["by=1|losses"][-1], outcome.truth["by=0.5|losses"][-1])


def test_a_penalty_of_zero_changes_no_bit():
    without, zero = (PROTOCOL.run(task({"": own})) for own in (NoDefense(), Penalized()))
    for name, array in without.transcripts[""].items():
        np.testing.assert_array_equal(array, zero.transcripts[""][name])
    assert without.utility == zero.utility


def test_the_gradient_of_a_penalty_is_part_of_what_is_released():
    without, with_ = (PROTOCOL.run(task({"": Penalized(weight)})).transcripts[""] for weight in (0.0, 0.5))
    added = with_["gradients"][0] - without["gradients"][0]  # before the first step the models are the same
    np.testing.assert_allclose(added, without["embeddings"][0], rtol=1e-4, atol=1e-6)


def test_a_defense_s_top_is_trained_on_the_same_bottom_and_evaluated_at_the_test():
    without, with_ = (PROTOCOL.run(task({"": own})) for own in (NoDefense(), OtherTop()))
    first, second = (outcome.transcripts[""] for outcome in (without, with_))
    np.testing.assert_array_equal(first["embeddings"][0], second["embeddings"][0])
    assert not np.array_equal(first["gradients"][0], second["gradients"][0])
    found = {row["metric"]: row["value"] for row in with_.utility}
    assert found["test_log_loss"] == pytest.approx(np.log(2))
    parties = split._meet(task(), "", OtherTop(), prepared(task()))
    assert len(parties.optimizer.param_groups[0]["params"]) == len(
        [*parties.bottom.parameters(), *parties.top.module.parameters(), *parties.top.entrance.parameters()]
    )


@pytest.mark.parametrize(("hook", "found"), [("top", None), ("penalty", torch.ones(2)), ("penalty", 0.0)])
def test_what_the_hooks_of_the_top_return_is_checked(hook, found):
    wrong = type("Wrong", (Defense,), {hook: lambda self, *given: found, "__module__": __name__})
    with pytest.raises(InputError, match=f"{hook} returned"):
        PROTOCOL.run(task({"": wrong()}))


def same(first, second):
    return first.keys() == second.keys() and all(np.array_equal(array, second[name]) for name, array in first.items())


@pytest.mark.parametrize("party", [{}, {"optimizer": "malicious", "gamma": 0.0}, {"extend": 0, "scale": 3.0}])
def test_a_feature_party_that_does_nothing_else_changes_no_bit(party):
    honest, own = PROTOCOL.run(task()), PROTOCOL.run(task(feature_party=party))
    assert same(honest.transcripts[""], own.transcripts[""])
    assert honest.utility == own.utility


def test_an_extended_cut_has_noise_that_is_drawn_once_a_row_and_an_honest_bottom_behind_it():
    honest, own = (PROTOCOL.run(task(**more)).transcripts[""] for more in ({}, {"feature_party": {"extend": 3}}))
    np.testing.assert_array_equal(own["embeddings"][0, :, :8], honest["embeddings"][0])
    assert own["gradients"].shape[2] == own["embeddings"].shape[2] == own["watched_gradients"].shape[2] == 11
    assert own["snapshots"].shape == honest["snapshots"].shape
    assert own["architecture"].tobytes() == honest["architecture"].tobytes()
    noise = own["embeddings"][:, :, 8:]
    assert noise.std() == pytest.approx(1, abs=0.2)
    data = prepared(task())
    rows = [data.phases[step // 5].batches[step % 5].numpy() for step in own["steps"] - 1]
    drawn = dict(zip(np.concatenate(rows), noise.reshape(-1, 3), strict=True))
    again = np.stack([[drawn[row] for row in some] for some in rows])
    np.testing.assert_array_equal(again, noise)
    assert len(drawn) < 4 * 32  # some rows are in two recorded batches


def ratios(party, gradients):
    """By how much a malicious party's steps exceed Adam's along these gradients, each (2,)."""
    steps = []
    for own in (FeatureParty(), FeatureParty(optimizer="malicious", **party)):
        bottom, top = torch.zeros(2, requires_grad=True), torch.zeros(1, requires_grad=True)
        optimizer, places = own.adam([bottom], [top], 0.01), [np.zeros(2)]
        for gradient in gradients:
            bottom.grad, top.grad = torch.tensor(gradient), torch.ones(1)
            optimizer.step()
            places.append(bottom.detach().numpy().copy())
        steps.append(np.diff(places, axis=0))
        assert top.item() == pytest.approx(-0.01 * len(gradients))
    return steps[1] / steps[0]


def test_a_malicious_step_is_larger_where_the_gradient_keeps_its_sign():
    """Moments by hand: 0.1, then 0.19 (the same gradients again) or -0.41 (reversed and five times as large)."""
    found = ratios({"gamma": 1.0, "ratio_max": 4.0}, [[1.0, 1.0], [1.0, -5.0]])
    np.testing.assert_allclose(found, [[1, 1], [2.9, 1]], rtol=1e-5)
    np.testing.assert_allclose(ratios({"ratio_max": 2.0}, [[1.0, 1.0], [1.0, 1.0]])[1], 2, rtol=1e-5)
    third = [ratios({"compound": own, "ratio_max": 9.0}, [[1.0, 1.0]] * 3)[2, 0] for own in (False, True)]
    assert third[0] == pytest.approx(1 + 0.271 / (0.19 * 2.9), rel=1e-4)  # over the scaled moment of the step before
    assert third[1] > third[0]


def test_a_malicious_party_s_first_step_is_honest_and_later_ones_are_not():
    honest, own = (
        PROTOCOL.run(task(**more)).transcripts[""] for more in ({}, {"feature_party": {"optimizer": "malicious"}})
    )
    np.testing.assert_array_equal(honest["gradients"][:2], own["gradients"][:2])
    assert not np.array_equal(honest["gradients"][2], own["gradients"][2])


def test_a_setting_is_the_same_whatever_runs_before_it():
    alone = PROTOCOL.run(task({"b": Noisy()}, variant="noisy")).transcripts["b"]
    after = PROTOCOL.run(task({"a": Noisy(), "b": Noisy()}, variant="noisy")).transcripts
    for name, array in alone.items():
        np.testing.assert_array_equal(array, after["b"][name])
    assert not np.array_equal(after["a"]["gradients"], after["b"]["gradients"])


def test_what_a_defense_draws_for_labels_is_in_the_truth_and_scored_as_an_attack_on_the_watched_rows():
    response = plugins.create("defense", "randomized_response", {"epsilon": 0.5}, "split")
    outcome = PROTOCOL.run(task({"a": response}, variant="response", epochs=3))
    drawn, labels = outcome.truth["a|drawn"], outcome.truth["watched_labels"]
    assert (drawn.shape, drawn.dtype) == ((60,), np.float32)
    assert set(drawn.tolist()) == {-0.5, 0.5}
    assert not any("drawn" in name for name in outcome.transcripts["a"].keys() | outcome.shared.keys() | PROTOCOL.shows)
    scored = {row["metric"]: row["value"] for row in outcome.utility if row.get("attack") == AS_DRAWN}
    attack = plugins.create("attack", "clusters_watched", {"by": "size"})
    seen = outcome.shared | outcome.transcripts["a"]
    found = {
        row["metric"]: row["value"] for row in measured(attack, PROTOCOL, outcome.truth, "cpu", seen, tuple("abacd"))
    }
    assert scored.keys() == found.keys()
    assert all(scored[name] == found[name] for name in ("rows", "majority", "floor", "chance"))
    assert scored["leak_auc"] == scored["leak_auc_mean"] == leak_auc(drawn, labels)
    kept = [(drawn > 0)[labels == label] == label for label in (0, 1)]
    assert scored["leak_auc"] == pytest.approx(np.mean([own.mean() for own in kept]))
    assert scored["leak_auc_error"] == pytest.approx(np.sqrt(sum(own.var(ddof=1) / 4 / len(own) for own in kept)))


def test_what_is_drawn_for_many_classes_is_scored_by_accuracy():
    response = plugins.create("defense", "randomized_response", {"epsilon": 1.0}, "split")
    outcome = PROTOCOL.run(task({"": response}, table(classes=3), "response"))
    scored = {row["metric"]: row["value"] for row in outcome.utility if row.get("attack") == AS_DRAWN}
    right = outcome.truth["|drawn"].argmax(axis=1) == outcome.truth["watched_labels"]
    assert scored["attack_utility"] == scored["attack_accuracy"] == right.mean()


def test_without_a_draw_or_watched_rows_nothing_is_added():
    response = plugins.create("defense", "randomized_response", {}, "split")
    for own in (task(), task({"": response}, known={"rows": 40, "per_class": 5, "attacked": 20})):
        outcome = PROTOCOL.run(own)
        assert not any("attack" in row for row in outcome.utility)
        assert not any(name.endswith("|drawn") for name in outcome.truth)


def test_the_transcript_holds_what_the_feature_party_has_and_no_label():
    outcome = PROTOCOL.run(task())
    names = outcome.transcripts[""].keys() | outcome.shared.keys()
    assert names == {
        "gradients", "embeddings", "first_gradients", "last_inputs", "last_gradient", "prior", "steps", "days",
        "hints", "snapshots", "architecture", "classes", "features", "known", "known_labels", "attacked", "outputs",
        "watched_gradients", "watched_steps", "watched_rows", "watched_features", "batch_means", "batch_squares",
    }  # fmt: skip
    shown = {n for target in PROTOCOL.targets for _, seen, _ in cases(outcome, target) for n in seen}
    assert shown == PROTOCOL.shows


def cases(outcome, target):
    return list(PROTOCOL.cases(outcome.transcripts[""] | outcome.shared, target))


def test_batches_are_recorded_evenly_and_where_asked():
    assert PROTOCOL.run(task()).transcripts[""]["steps"].tolist() == [1, 2, 5, 10]


def test_hints_are_positives_of_their_batch_and_differ_from_batch_to_batch():
    outcome = PROTOCOL.run(task())
    hints = outcome.transcripts[""]["hints"]
    for own, labels in zip(hints, outcome.truth["labels"], strict=True):
        assert len(set(own)) == 5
        assert labels[own].tolist() == [1] * 5
    assert len({tuple(own) for own in hints}) == len(hints)


def test_known_labels_are_those_of_training_rows_and_the_attacked_rows_are_tested_ones():
    own = task()
    data, outcome = prepared(own), PROTOCOL.run(own)
    features, labels = own.table.features, own.table.labels
    shown = outcome.shared
    np.testing.assert_array_equal(shown["features"][:40], features[data.train[:40]])
    np.testing.assert_array_equal(shown["known_labels"], labels[data.train[shown["known"]]])
    assert np.bincount(shown["known_labels"]).tolist() == [5, 5]
    tested = data.phases[-1].test[:20]
    np.testing.assert_array_equal(shown["features"][shown["attacked"]], features[tested])
    np.testing.assert_array_equal(outcome.truth["attacked_labels"], labels[tested])
    assert not set(data.train) & set(data.phases[-1].test)


def test_tracked_records_are_kept_in_every_epoch():
    own = task(epochs=3)
    data, outcome = prepared(own), PROTOCOL.run(own)
    seen = outcome.transcripts[""] | outcome.shared
    phases = [len(phase.batches) for phase in data.phases]
    assert seen["watched_gradients"].shape == (3, 60, 8)
    for epoch, phase in enumerate(data.phases):
        order = data.train[torch.cat(phase.batches).numpy()]  # table rows, in the order of their batches
        for number, row in enumerate(seen["watched_rows"]):
            (places,) = np.nonzero(order == row)
            step = sum(phases[:epoch]) + places[0] // 32 if len(places) else -1
            assert seen["watched_steps"][epoch, number] == step
            if step + 1 in seen["steps"]:
                (batch,) = seen["gradients"][seen["steps"] == step + 1]
                unit = np.sqrt(np.square(batch, dtype=float).sum(axis=1).mean())
                found = seen["watched_gradients"][epoch, number]
                np.testing.assert_allclose(found, batch[places[0] % 32] / unit, rtol=1e-3, atol=1e-7)
    for step, batch in zip(seen["steps"] - 1, seen["gradients"], strict=True):
        np.testing.assert_allclose(seen["batch_means"][step], batch.mean(axis=0), rtol=1e-4, atol=1e-9)
        assert seen["batch_squares"][step] == pytest.approx(np.square(batch).sum(axis=1).mean(), rel=1e-5)
    assert seen["batch_squares"].shape == (sum(phases),)


def test_watched_are_the_known_rows_then_mostly_the_same_in_each_seed():
    outcomes = [PROTOCOL.run(dataclasses.replace(task(), seed=seed)) for seed in (0, 1)]
    for outcome in outcomes:
        seen, labels = outcome.shared, outcome.truth["watched_labels"]
        np.testing.assert_array_equal(labels[: len(seen["known"])], seen["known_labels"])
        np.testing.assert_array_equal(labels, table().labels[seen["watched_rows"]])
        np.testing.assert_array_equal(seen["watched_features"], table().features[seen["watched_rows"]])
        assert len(set(seen["watched_rows"])) == 60
    first, second = (set(outcome.shared["watched_rows"][10:]) for outcome in outcomes)
    assert len(first & second) > 25  # of 50, where 3 of 4 rows are trained on


def test_fewer_rows_may_be_watched_than_have_known_labels():
    outcome = PROTOCOL.run(task(known=SETTINGS["known"] | {"watched": 7}))
    ((_, seen, _),) = cases(outcome, "watched")
    np.testing.assert_array_equal(seen["known_labels"], outcome.truth["watched_labels"])


def test_watching_rows_changes_nothing_else():
    with_, without = (PROTOCOL.run(task(known=SETTINGS["known"] | {"watched": n})) for n in (60, 1))
    for name, array in without.transcripts[""].items():
        if not name.startswith("watched"):
            np.testing.assert_array_equal(array, with_.transcripts[""][name])


def test_the_bottom_model_can_be_built_again_from_what_is_shown():
    own = task()
    outcome = PROTOCOL.run(own)
    ((_, seen, _),) = cases(outcome, "population")
    model, inputs, bottom = rebuilt(seen["architecture"], seen["bottom"])
    data = prepared(own)
    rows = data.phases[-1].batches[-1]
    _, last, _ = (outcome.transcripts[""][name][-1] for name in ("steps", "embeddings", "hints"))
    _, embedding = bottom(model.encode(own.table.features[data.train[rows.numpy()]], inputs))
    assert np.corrcoef(embedding.detach().numpy().ravel(), last.ravel())[0, 1] > 0.95  # one step later


def test_a_stream_trains_on_each_day_once_and_is_tested_on_the_next():
    own = task(own=table(rows=600, days=4), stream="day", batch=50, known={})
    data, days = prepared(own), own.table.attributes["day"]
    assert [phase.place["day"] for phase in data.phases] == [1, 2, 3]
    for day, phase in enumerate(data.phases):
        trained = data.train[torch.cat(phase.batches).numpy()]
        assert len(set(trained)) == len(trained)
        assert set(days[trained]) == {day}
        assert set(days[phase.test]) == {day + 1}
    assert data.num_releases == 1
    rows = [row for row in PROTOCOL.run(own).utility if row["metric"] == "test_auc"]
    assert [row["day"] for row in rows] == [1, 2, 3]


def test_a_single_day_is_no_stream():
    with pytest.raises(InputError, match="single day"):
        PROTOCOL.run(task(stream="day", known={}))


def test_a_training_that_diverges_is_an_error_that_names_the_setting():
    with pytest.raises(InputError, match=r"^run\.made/boom/seed0: by=1 diverged"):
        PROTOCOL.run(task({"by=1": Scaled(1.0)}, variant="boom", rate=1e30))


def test_times_compare_with_the_first_defense(tmp_path, monkeypatch):
    monkeypatch.setattr(times, "read", lambda folder, name: (table(), {}))
    settings = SETTINGS | {"timed_steps": 5}
    times.measure("made", settings, {"none": {"use": "none"}}, tmp_path, range(2), tmp_path / "times.csv")
    rows = (tmp_path / "times.csv").read_text().splitlines()[1:]
    assert len(rows) == 4
    assert [row.split(",")[-1] for row in rows if "time_ratio" in row] == ["1.0", "1.0"]
    assert all(float(row.split(",")[-1]) > 0 for row in rows)


@pytest.mark.parametrize("outputs", [1, 6])
def test_without_a_wide_part_the_label_party_has_the_embeddings_and_nothing_else(outputs):
    inputs, embedded = prepared(task()).inputs, torch.ones(3, 8)
    own = {name: value for name, value in DEEP.items() if name != "use"}
    without = plugins.create("model", "wide_deep", own | {"wide": False}).top(inputs, outputs)
    assert {name.partition(".")[0] for name, _ in without.named_parameters()} == {"hidden", "last"}
    features = {"numeric": torch.zeros(3, 2), "codes": torch.zeros(3, 2, dtype=torch.int64)}
    others = {"numeric": torch.ones(3, 2), "codes": torch.ones(3, 2, dtype=torch.int64)}
    torch.testing.assert_close(without(embedded, features), without(embedded, others), rtol=0, atol=0)
