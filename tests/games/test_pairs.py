"""Pairs of records of which a coin says which one trains: that the other is nowhere, and that no view has the coins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from tests.games.test_split_server import PROTOCOL, table, task

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator
from cutlayer.games.split_server import pairs
from cutlayer.games.split_server.data import prepared
from cutlayer.games.split_server.defenses.gaussian_features import GaussianFeatures
from cutlayer.games.split_server.defenses.none import NoDefense
from cutlayer.games.split_server.defenses.send_nothing import SendNothing
from cutlayer.games.split_server.defenses.tcpo_composed import TcpoComposed
from cutlayer.plan.sweeps import AUDITOR


def paired(defense=None, rows=350, **settings):
    """A task with as many pairs as there may be; the attribute has two values."""
    own = table(rows)
    two = replace(own, attributes={"group": own.attributes["group"] % 2})
    return task(defense, two, poison=0.1, **{"pairs": 1000} | settings)


def other_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the same pairs get coins of another draw."""
    monkeypatch.setattr(pairs, "generator", lambda *name: generator(*name, "again"))


def test_one_record_of_a_pair_trains_and_the_other_is_nowhere():
    own, plain = prepared(paired()), prepared(replace(paired(), settings=task(poison=0.1).settings))
    places = np.arange(len(own.pairs))
    trains, other = (own.pairs.rows[places, coins] for coins in (own.pairs.coins, 1 - own.pairs.coins))
    np.testing.assert_array_equal(own.train[places], trains)
    assert not np.isin(other, np.concatenate([own.train, own.test, own.known])).any()
    assert {*own.train, *other} == {*plain.train}
    for name in ("test", "known", "poison"):
        np.testing.assert_array_equal(getattr(own, name), getattr(plain, name))
    assert own.inputs == plain.inputs


def test_a_pair_has_both_values_and_its_coin_is_the_value_that_trains():
    own = prepared(paired())
    np.testing.assert_array_equal(own.all_attribute[own.pairs.rows], np.tile([0, 1], (len(own.pairs), 1)))
    np.testing.assert_array_equal(own.attribute[: len(own.pairs)], own.pairs.coins)


def test_pairs_are_no_more_than_wanted_or_intercepted_or_a_share_of_the_training():
    attacked = paired().settings["records"] | {"attacked": 1000}
    assert len(prepared(paired(pairs=7)).pairs) == 7
    assert len(prepared(paired(records=attacked)).pairs) == pairs.SHARE * 200
    assert len(prepared(paired(records=attacked | {"attacked": 9})).pairs) == 9
    assert len(prepared(task()).pairs) == 0


def test_an_attribute_of_three_values_has_no_pairs():
    with pytest.raises(InputError, match="an attribute of two values"):
        prepared(task(pairs=10))


def test_coins_are_fair_and_of_the_setup_it_is_like():
    own = prepared(paired(rows=7000, records={"attacked": 1000})).pairs
    assert abs(own.coins.mean() - 0.5) < 3 / np.sqrt(4 * len(own))
    like = [prepared(paired(like="other", **more)).pairs for more in ({}, {"noisy_views": "training"})]
    np.testing.assert_array_equal(like[0].coins, like[1].coins)
    assert not np.array_equal(prepared(paired()).pairs.rows, like[0].rows)


def test_coins_never_reach_a_view(monkeypatch):
    """Of clients that send zeros, coins that are drawn anew change nothing that is shown."""
    first = PROTOCOL.run(paired(SendNothing()))
    other_coins(monkeypatch)
    second = PROTOCOL.run(paired(SendNothing()))
    assert not np.array_equal(first.truth["coins"], second.truth["coins"])
    assert "coins" not in first.shared.keys() | first.transcripts[""].keys() | PROTOCOL.shows
    for mine, other in ((first.shared, second.shared), (first.transcripts[""], second.transcripts[""])):
        for name, array in mine.items():
            np.testing.assert_array_equal(array, other[name], name)


def test_without_a_defense_the_record_that_trains_is_sent(monkeypatch):
    first = PROTOCOL.run(paired()).transcripts[""]
    other_coins(monkeypatch)
    assert not np.array_equal(first["intercepted"], PROTOCOL.run(paired()).transcripts[""]["intercepted"])


def test_only_pairs_are_scored():
    truth = PROTOCOL.run(paired(records={"attacked": 60})).truth
    count, values = len(truth["coins"]), truth["training_attribute"]
    assert count < len(values)
    right = np.eye(2)[values]
    right[count:] = right[count:, ::-1]
    found = PROTOCOL.leak(np.stack([1 - right, right]), truth, {}, "training_attribute")
    assert (found["attack_auc"], found["rows"], found["coins_guessed"]) == (1.0, count, 1.0)
    assert found["coin_slack"] == 1 / count
    assert "coins_guessed" not in PROTOCOL.leak(np.eye(2)[truth["attribute"]], truth, {}, "attribute")


def test_an_auditor_has_the_likelihood_ratio_of_what_was_released():
    draw = generator("test_pairs")
    first, second, sent = draw.standard_normal((3, 8, 2, 5))
    ratio = norm.logpdf(sent, second, 0.7).sum(axis=(1, 2)) - norm.logpdf(sent, first, 0.7).sum(axis=(1, 2))
    np.testing.assert_allclose(pairs.log_ratio(sent, [first, second], 0.7), ratio)


def audited(defense):
    """What an auditor's score has, by metric."""
    rows = PROTOCOL.run(paired(defense)).utility
    return {row["metric"]: row["value"] for row in rows if row.get("attack") == AUDITOR}


def test_the_auditor_is_scored_where_a_bound_is_about_rows_and_changes_no_training(monkeypatch):
    loud = audited(GaussianFeatures(epsilon=1000.0))
    assert loud["attack_auc"] > audited(GaussianFeatures(epsilon=0.1))["attack_auc"]
    assert loud["attack_auc"] > 0.9
    assert not audited(NoDefense())
    assert not audited(TcpoComposed(threshold=100.0))
    first = PROTOCOL.run(paired(GaussianFeatures()))
    monkeypatch.setattr("cutlayer.games.split_server.records.log_ratio", lambda *given: 0.0)
    second = PROTOCOL.run(paired(GaussianFeatures()))
    np.testing.assert_array_equal(first.transcripts[""]["encoder"], second.transcripts[""]["encoder"])
