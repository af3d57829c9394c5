"""What features alone predict: fitted without the audited rows, chosen without their labels of the seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.games.test_split import SETTINGS

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.data.datasets.base import Table
from cutlayer.games.base.protocol import Task
from cutlayer.metrics.leakage import leak_auc
from cutlayer.metrics.prior import CANDIDATES, estimates, log_loss
from cutlayer.plan import plugins
from cutlayer.plan.sweeps import AS_DRAWN
from cutlayer.stages import priors
from cutlayer.stages.scores import measured

SEEDS, ROWS = range(3), 2400
BOTH = 0.5 * np.sqrt(1 / 1000 + 1 / 600)  # standard error of a difference of the rates of label 1 of so many rows
PROTOCOL = plugins.create("protocol", "split")
OWN = SETTINGS | {"known": {"rows": 40, "per_class": 5, "attacked": 20, "watched": 1000}, "batch": 128}


def table(sure):
    """Numbers and codes; the label depends on a number and a code, surely or hardly."""
    draw = generator("test_priors", sure)
    numbers, codes = draw.standard_normal((ROWS, 2)), draw.integers(0, 30, (ROWS, 2))
    odds = (40.0 if sure else 1.0) * (numbers[:, 0] + (codes[:, 0] % 2) - 1)
    labels = (draw.random(ROWS) < 1 / (1 + np.exp(-odds))).astype(int)
    features = np.hstack([np.exp(numbers), codes]).astype(np.float32)
    return Table(features, labels, {}, ("i1", "i2", "c1", "c2"), ("c1", "c2"), 2)


def fitted(made, tmp_path, monkeypatch):
    monkeypatch.setattr(priors, "read", lambda *_: (made, None))
    priors.fit("made", OWN, tmp_path, SEEDS, tmp_path / "prior.safetensors")
    return [priors.of_seed(tmp_path / "prior.safetensors", seed) for seed in SEEDS]


@pytest.fixture(scope="module")
def hardly(tmp_path_factory):
    """The table whose labels features hardly predict, and what they predict for each seed."""
    with pytest.MonkeyPatch.context() as patch:
        return table(sure=False), fitted(table(sure=False), tmp_path_factory.mktemp("hardly"), patch)


def task(made, prior=None, defense="none", seed=0):
    method = plugins.create("defense", defense, {}, "split")
    return Task("made", defense, seed, made, OWN, {"": method}, prior=prior)


@pytest.mark.parametrize("name", CANDIDATES)
def test_a_candidate_is_calibrated_and_sees_numbers_and_codes(name):
    made = table(sure=False)
    rows, label = made.features, made.labels
    chance = estimates(rows[:1000], label[:1000], [2, 3], rows[1000:1600], 0)[name]
    assert (chance.shape, chance.dtype) == ((600,), np.float32)
    blind = estimates(rows[:1000, 2:], label[:1000], [0, 1], rows[1000:1600, 2:], 0)[name]
    assert 0.5 < leak_auc(blind, label[1000:1600]) < leak_auc(chance, label[1000:1600])
    assert log_loss(chance, label[1000:1600]) < log_loss(np.full(600, label.mean()), label[1000:1600])
    assert chance.mean() == pytest.approx(label[1000:1600].mean(), abs=3 * BOTH)


def test_the_prior_is_of_the_watched_rows_and_depends_on_none_of_their_labels(hardly):
    made, found = hardly
    rows = PROTOCOL.audited(task(made))
    watched = PROTOCOL.run(task(made)).shared["watched_rows"]
    np.testing.assert_array_equal(rows.features, made.features[watched])
    assert len(rows.others) == 0.75 * ROWS - 1000
    assert found[0]["row_prior"].shape == (1000,)
    first, flipped = (priors._estimated(one, "made", 0) for one in (rows, replace(rows, label=1 - rows.label)))
    for name, chance in first.items():
        np.testing.assert_array_equal(chance, flipped[name])
    assert any((found[0]["row_prior"] == chance).all() for chance in first.values())


def test_what_features_predict_is_in_the_truth_and_never_in_a_transcript(hardly):
    made, (prior, *_) = hardly
    outcome = PROTOCOL.run(task(made, prior, "randomized_response"))
    seen = outcome.transcripts[""].keys() | outcome.shared.keys() | PROTOCOL.shows
    assert not seen & prior.keys()
    np.testing.assert_array_equal(outcome.truth["row_prior"], prior["row_prior"])
    run = {row["metric"]: row["value"] for row in outcome.utility if "attack" not in row}
    assert run["features_auc"] == leak_auc(prior["row_prior"], outcome.truth["watched_labels"])
    assert run["promise"] < run["promise_with_features"]
    assert run["features_auc"] < run["promise_with_features"]
    drawn = {row["metric"]: row["value"] for row in outcome.utility if row.get("attack") == AS_DRAWN}
    assert abs(drawn["leak_auc_adjusted"] - run["promise"]) < 3 * drawn["leak_auc_adjusted_error"]
    found = scored(outcome)
    assert found["leak_auc_adjusted"] == drawn["leak_auc_adjusted"] or found["leak_auc"] != drawn["leak_auc"]
    without = PROTOCOL.run(task(made, None, "randomized_response"))
    assert "leak_auc_adjusted" not in scored(without)
    kept = [row for row in outcome.utility if not {"adjusted", "features"} & {*row["metric"].split("_")}]
    assert without.utility == kept  # nothing else changes


def scored(outcome):
    attack = plugins.create("attack", "clusters_watched", {"by": "size"})
    seen = outcome.shared | outcome.transcripts[""]
    rows = measured(attack, PROTOCOL, outcome.truth, "cpu", seen, ("made", "a", "", "b", 0))
    return {row["metric"]: row["value"] for row in rows}


def test_where_features_predict_everything_the_run_says_so_in_place_of_every_attack_s_number(tmp_path, monkeypatch):
    made = table(sure=True)
    prior = fitted(made, tmp_path, monkeypatch)[0]
    assert prior["row_prior_suffices"]
    outcome = PROTOCOL.run(task(made, prior))
    (row,) = (row for row in outcome.utility if row["metric"] == "leak_auc_adjusted")
    assert (row["value"], row["skipped"]) == (None, "features tell (nearly) everything: see coins")
    assert {"features_auc_adjusted", "features_auc_adjusted_error"} <= {row["metric"] for row in outcome.utility}
    assert "leak_auc_adjusted" not in scored(outcome)


def test_with_too_few_rows_of_a_label_all_rows_have_the_same_prospects(tmp_path, monkeypatch):
    made = table(sure=False)
    rare = Table(made.features, made.labels * 0, {}, made.feature_names, made.categorical, 2)
    prior = fitted(rare, tmp_path, monkeypatch)[0]
    assert len({*prior["row_prior"]}) == 1
    assert prior["row_prior_suffices"]  # rows of one label: there is nothing to test


def test_labels_of_several_classes_are_an_error(tmp_path, monkeypatch):
    made = table(sure=False)
    several = Table(made.features, made.labels + 1, {}, made.feature_names, made.categorical, 3)
    with pytest.raises(InputError, match=r"prior.made: has labels of several classes; expected two classes"):
        fitted(several, tmp_path, monkeypatch)


def test_the_model_is_the_one_of_least_log_loss_on_other_seeds(tmp_path, monkeypatch):
    made, rates = table(sure=False), {"logistic": 0.9, "boosting": 0.45}
    constant = {name: np.float32(rate) for name, rate in rates.items()}
    monkeypatch.setattr(
        priors, "estimates", lambda *given: {name: np.full(len(given[3]), rate) for name, rate in constant.items()}
    )
    models = [bytes(one["row_prior_model"]).decode() for one in fitted(made, tmp_path, monkeypatch)]
    assert models == ["boosting"] * len(SEEDS)
