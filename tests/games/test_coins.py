"""Coins in place of labels: which rows have them, that they are trained on and scored, and that no view has them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.games.test_split import PROTOCOL, task

from cutlayer.core.seeds import generator
from cutlayer.core.transcript import of_setting
from cutlayer.games.split import coins
from cutlayer.games.split import protocol as split
from cutlayer.games.split.data import prepared
from cutlayer.games.split.defense import Context
from cutlayer.games.split.defenses.dp import DP
from cutlayer.games.split.defenses.none import NoDefense
from cutlayer.games.split.defenses.send_nothing import SendNothing
from cutlayer.plan.sweeps import AUDITOR

NAMES = {"coins", "coin_places", "batch_coins"}


def other_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the same rows get coins of another draw."""
    monkeypatch.setattr(coins, "generator", lambda *name: generator(*name, "again"))


def test_rows_with_coins_are_tracked_and_neither_known_nor_tested_on():
    own, plain = prepared(task(coins=1000)), prepared(task())
    has = own.coins != coins.NONE
    assert has.sum() == int(coins.SHARE * len(has))
    np.testing.assert_array_equal(np.sort(own.tracked[own.truth["coin_places"]]), np.flatnonzero(has))
    assert not has[own.shown["known"]].any()
    np.testing.assert_array_equal(own.train, plain.train)
    np.testing.assert_array_equal(own.labels[~has], plain.labels[~has])
    np.testing.assert_array_equal(own.labels[has], own.coins[has])
    np.testing.assert_array_equal(own.truth["attacked_labels"], plain.truth["attacked_labels"])


def test_fewer_may_have_coins_or_all():
    assert (prepared(task(coins=7)).coins != coins.NONE).sum() == 7
    own = prepared(task(coins="all"))
    np.testing.assert_array_equal(own.labels, own.coins)
    np.testing.assert_array_equal(own.truth["coins"], own.truth["watched_labels"])


def test_coins_are_fair_and_of_the_setup_it_is_like():
    own, like = (prepared(task(coins="all", **more)) for more in ({}, {"like": "other"}))
    assert abs(own.coins.mean() - 0.5) < 3 / np.sqrt(4 * len(own.coins))
    named = prepared(task(like="other"))
    np.testing.assert_array_equal(like.train, named.train)
    assert not np.array_equal(own.train, like.train)


def test_coins_never_reach_a_view(monkeypatch):
    """Of a label party that returns zeros, coins that are drawn anew change nothing that is shown."""
    first = PROTOCOL.run(task({"": SendNothing()}, coins=1000))
    other_coins(monkeypatch)
    second = PROTOCOL.run(task({"": SendNothing()}, coins=1000))
    assert not np.array_equal(first.truth["coins"], second.truth["coins"])
    assert not NAMES & (first.shared.keys() | first.transcripts[""].keys() | PROTOCOL.shows)
    for mine, other in ((first.shared, second.shared), (first.transcripts[""], second.transcripts[""])):
        for name, array in mine.items():
            np.testing.assert_array_equal(array, other[name], name)


def test_without_a_defense_they_are_sent_like_labels(monkeypatch):
    first = PROTOCOL.run(task(coins=1000)).transcripts[""]
    other_coins(monkeypatch)
    assert not np.array_equal(first["gradients"], PROTOCOL.run(task(coins=1000)).transcripts[""]["gradients"])


def test_only_coins_are_scored():
    outcome = PROTOCOL.run(task({"": NoDefense()}, coins=1000))
    truth = of_setting(outcome.truth, "")
    score = truth["watched_labels"].astype(float)
    found = PROTOCOL.leak(score, truth, {}, ("watched", 0))
    assert (found["leak_auc"], found["rows"], found["coins_guessed"]) == (1.0, len(truth["coins"]), 1.0)
    score[truth["coin_places"]] = 1 - score[truth["coin_places"]]
    found = PROTOCOL.leak(score, truth, {}, ("watched", 0))
    assert (found["leak_auc"], found["coins_guessed"], found["coins_guessed_half"]) == (0.0, 0.0, 0.0)
    has = truth["batch_coins"][0] != coins.NONE
    score = np.where(has, truth["labels"][0], np.nan)
    found = PROTOCOL.leak(score, truth, {}, ("labels", 0))
    assert (found["leak_auc"], found["rows"]) == (1.0, has.sum())


def test_a_batch_without_coins_tells_nothing_apart():
    """On Criteo 1,000 coins are so few of a training that some recorded batches have none."""
    truth = {"batch_coins": np.full((1, 8), coins.NONE), "labels": np.ones((1, 8))}
    assert PROTOCOL.leak(np.arange(8.0), truth, {}, ("labels", 0)) == {"one_class": 1.0}


def test_hints_are_no_coins():
    outcome = PROTOCOL.run(task(coins=1000))
    for hints, tossed in zip(outcome.transcripts[""]["hints"], outcome.truth["batch_coins"], strict=True):
        assert (tossed[hints[hints >= 0]] == coins.NONE).all()


def test_an_auditor_has_the_likelihood_ratio_of_what_dp_releases():
    draw = torch.Generator().manual_seed(5)
    slope, sent = torch.randn(3, generator=draw), torch.randn(8, 3, generator=draw)
    defense, state = DP(clip=0.5), 0.7
    context = Context(None, torch.arange(8), state)
    received = torch.randn(8, 3, generator=draw)
    found = coins.log_ratio(defense, lambda x, label: (1 - 2 * label) * x @ slope, sent, received, context)
    short = slope * min(1, 0.5 / float(slope.norm()))
    expected = ((received - short).square() - (received + short).square()).sum(dim=1).double() / (2 * state**2)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    assert coins.log_ratio(NoDefense(), lambda x, label: x.sum(1), sent, received, context) is None


def test_the_auditor_is_scored_beside_the_attacks_and_changes_no_training():
    outcome = PROTOCOL.run(task({"": DP(epsilon=100.0)}, coins=1000))
    rows = {row["metric"]: row["value"] for row in outcome.utility if row.get("attack") == AUDITOR}
    assert rows["rows"] == len(outcome.truth["coins"])
    assert rows["leak_auc"] > 0.9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split, "log_ratio", lambda *given: None)
        plain = PROTOCOL.run(task({"": DP(epsilon=100.0)}, coins=1000))
    np.testing.assert_array_equal(outcome.transcripts[""]["snapshots"], plain.transcripts[""]["snapshots"])
    assert "|auditor" not in plain.truth
    assert "|auditor" not in PROTOCOL.run(task(coins=1000)).truth
