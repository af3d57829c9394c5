"""The audit of an exhibit: what simulated mechanisms surely leak, how often an honest one is refuted, a broken one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import binom

from cutlayer.core.seeds import generator
from cutlayer.games.split_server.pairs import log_ratio
from cutlayer.ledger import audit
from cutlayer.metrics.audit import guessed, slack
from cutlayer.metrics.leakage import auc_error, leak_auc
from cutlayer.theory.audit import SURE, p_value

COINS, SEEDS = 1000, 5
WRONG = 1e-3  # how often a test of simulated runs may fail by chance
RUN = {"setup": "made_coins", "setting": "", "scale": "quick", "skipped": "", "n": 0, "cases": 1, "seeds": SEEDS}


def gaussian(mu, draw, coins):
    return mu * coins + draw.standard_normal(len(coins))


def response(epsilon, draw, coins):
    kept = draw.random(len(coins)) < 1 / (1 + np.exp(-epsilon))
    return np.where(kept, coins, 1 - coins).astype(float)


def pairs(apart, draw, coins):
    """An auditor's score of pairs of records whose features are so far apart, in units of the noise on them."""
    first, step = draw.standard_normal((2, len(coins), 4))
    second = first + apart * step / np.linalg.norm(step, axis=1, keepdims=True)
    sent = np.where(coins[:, None], second, first) + draw.standard_normal(first.shape)
    return log_ratio(sent, [first, second], 1.0)


HONEST = [(gaussian, 0.26805, 0.57517), (response, 1.0, 0.731059), (pairs, 0.26805, 0.57517)]
BROKEN = [(gaussian, 0.6, 0.57517), (response, 1.5, 0.731059), (pairs, 0.6, 0.57517)]


def summarized(mechanism, strength, bound, *name, defense="mine"):
    """The summarized cells of an exhibit in which an attack reads all that a mechanism sends of coins."""
    each, errors, few = {}, [], []
    shares: dict[str, dict[int, float]] = {}
    for seed in range(SEEDS):
        draw = generator("test_audit", mechanism.__name__, strength, seed, *name)
        coins = draw.integers(2, size=COINS)
        score = mechanism(strength, draw, coins)
        each[seed] = leak_auc(score, coins) - slack(COINS)["coin_slack"]
        errors.append(auc_error(score, coins))
        few.append(min(coins.sum(), COINS - coins.sum()))
        for metric, value in guessed(score, coins).items():
            shares.setdefault(metric, {})[seed] = value
    who = RUN | {"defense": defense, "attack": "any_attack", "by": "repeated"}
    rows = [who | {"metric": "coin_auc", "each": each, "error": np.mean(errors), "rows": min(few)}]
    rows += [who | {"metric": metric, "each": own, "error": 0.0, "rows": COINS} for metric, own in shares.items()]
    rows += [who | {"attack": "", "by": "", "metric": "promise", "each": dict.fromkeys(each, bound), "error": 0.0}]
    return pd.DataFrame([row | {"mean": np.mean([*row["each"].values()])} for row in rows])


def aucs(table):
    """Without numbers of guesses, whose bounds take long."""
    return table[table["metric"].isin(["coin_auc", "promise"])]


def measured(*tables):
    """What the audit adds, by defense and metric."""
    found = audit.with_audit(pd.concat(tables, ignore_index=True))
    return found[found["attack"] == "any_attack"].set_index(["defense", "metric"])["mean"]


def test_a_gaussian_mechanism_leaks_for_sure_nearly_its_auc():
    """Not more than 5,000 coins of one run would (0.5624), of which five seeds know less than their number says."""
    runs = (aucs(summarized(gaussian, 0.26805, 0.57517, trial)) for trial in range(30))
    lower = [measured(run)["mine", "auc_measured"] for run in runs]
    assert 0.545 < np.median(lower) < 0.5624
    assert np.mean(np.array(lower) <= 0.57517) >= 0.95


def test_randomized_response_leaks_for_sure_nearly_its_epsilon():
    found = measured(summarized(response, 1.0, 0.731059))["mine"]
    assert 0.70 < found["auc_measured"] < 0.7311
    assert 0.85 < found["epsilon_measured"] < 1.0
    assert found["epsilon_as_auc"] == pytest.approx(1 / (1 + np.exp(-found["epsilon_measured"])))
    assert "coins_guessed" not in found


@pytest.mark.parametrize(("mechanism", "strength", "bound"), HONEST)
def test_an_honest_bound_is_refuted_in_at_most_5_percent_of_the_runs(mechanism, strength, bound):
    made = (aucs(summarized(mechanism, strength, bound, trial, "honest")) for trial in range(40))
    runs = [measured(run)["mine"] for run in made]
    assert np.mean([run["refuted"] for run in runs]) <= 0.05
    assert all(run["refuted"] == (run["bound_p"] <= 0.025) for run in runs)


@pytest.mark.parametrize(("mechanism", "strength", "bound"), BROKEN)
def test_a_broken_bound_is_refuted_among_honest_ones(mechanism, strength, bound):
    honest = [summarized(gaussian, 0.26805, 0.57517, place, defense=f"honest_{place}") for place in range(5)]
    found = measured(summarized(mechanism, strength, bound), *honest)
    assert found["mine", "refuted"] == 1
    assert found["mine", "auc_measured"] > bound
    assert sum(found[f"honest_{place}", "refuted"] for place in range(5)) == 0


def test_chance_leaks_nothing_for_sure():
    found = measured(summarized(gaussian, 0.0, 0.57))["mine"]
    assert (found["auc_measured"], found["mu_measured"], found["epsilon_of_mu"]) == (0.5, 0.0, 0.0)


def test_a_single_seed_is_not_judged():
    table = summarized(gaussian, 0.6, 0.57)
    table["each"] = [{0: each[0]} for each in table["each"]]
    found = measured(table)["mine"]
    assert not {"auc_measured", "bound_p", "refuted"} & set(found.index)


def test_an_exhibit_without_coins_is_as_it_was():
    table = summarized(gaussian, 0.6, 0.57)
    plain = table[table["metric"] == "promise"]
    pd.testing.assert_frame_equal(audit.with_audit(plain), plain)


LEAKS = dict.fromkeys(("leak_auc_mean", "attack_auc", "coins_guessed"), "more")
RULE = {"leaks": LEAKS, "among": {"any": [*"abcdefghij"]}}


def cells(values, attack, metric, **who):
    """The cells of an attack, one a seed."""
    common = RUN | {"dataset": "made", "defense": "mine", "attack": attack, "metric": metric, "chance": np.nan} | who
    return [common | {"seed": seed, "value": value} for seed, value in enumerate(values)]


def chosen(parts):
    """The cells of the worst attacks, as `gather` has them."""
    return audit.of_worst(pd.DataFrame([row for part in parts for row in part]), RULE)


@pytest.mark.parametrize("metric", ["leak_auc_mean", "attack_auc"])
def test_an_auc_of_coins_for_labels_or_of_pairs_is_taken_less_its_slack(metric):
    parts = [
        cells([0.8, 0.9, 0.85], "a", metric),
        cells([0.6] * 3, "b", metric),
        cells([0.5] * 3, "a", "coins_guessed"),
    ]
    table = chosen([*parts, cells([0.01] * 3, "a", "coin_slack"), cells([0.2] * 3, "b", "coin_slack")])
    own = table[table["metric"] == "coin_auc"]
    assert dict(zip(own["seed"], own["value"], strict=True)) == pytest.approx({0: 0.79, 1: 0.89, 2: 0.84})


def test_guesses_are_of_the_attack_and_sign_chosen_on_earlier_seeds_and_the_first_seed_has_none():
    parts = [cells([0.3, 0.4, 0.4], "a", "coins_guessed"), cells([0.6, 0.9, 0.4], "b", "coins_guessed")]
    parts += [cells([0.1, 0.4, 0.2], "a", "leak_auc_mean"), cells([0.7, 0.9, 0.9], "b", "leak_auc_mean")]
    table = chosen([*parts, cells([0.1] * 3, "a", "coin_slack"), cells([0.01] * 3, "b", "coin_slack")])
    own = {name: dict(zip(part["seed"], part["value"], strict=True)) for name, part in table.groupby("metric")}
    assert own["coins_guessed"] == pytest.approx({1: 0.6, 2: 0.4})  # of a, turned; before seed 2 b has 0.75, a 0.65
    assert own["coin_auc"] == pytest.approx({0: 0.7 - 0.01, 1: 0.9 - 0.01, 2: 0.9 - 0.01})
    # Chosen on all other seeds by what is left: before seed 1 is reported a, turned, has 0.85 - 0.1, b 0.8 - 0.01.


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_the_best_of_ten_attacks_rules_out_an_honest_epsilon_in_at_most_5_percent_of_the_runs(epsilon):
    """Each attack attains it, so that luck alone tells one from another; choice on all other seeds has 13%."""
    runs, draw, parts = 500, generator("test_audit, best of ten", epsilon), []
    for run in range(runs):
        for attack in RULE["among"]["any"]:
            right = draw.binomial(COINS, expit(epsilon), SEEDS) / COINS
            parts += [cells(right, attack, "coins_guessed", setting=str(run))]
            parts += [cells([0.0] * SEEDS, attack, "coin_slack", setting=str(run))]
    own = chosen(parts).query("metric == 'coins_guessed'").groupby("setting")["value"].agg(["sum", "size"])
    assert (len(own), *own["size"].unique()) == (runs, SEEDS - 1)
    guesses, right = COINS * (SEEDS - 1), (own["sum"] * COINS).round().astype(int)
    found = sum(p_value(epsilon, one, guesses, guesses, audit.DELTA) < SURE for one in right)
    assert found <= binom.ppf(1 - WRONG, runs, SURE)
