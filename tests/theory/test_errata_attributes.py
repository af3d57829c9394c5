"""The errata of papers/tcpo, each shown by numbers; their names are those the file refers to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.special import entr

from cutlayer.core.seeds import generator
from cutlayer.information import gaussian_leakage
from cutlayer.pareto import anchor

FOLDER = Path(__file__).parents[2] / "workflow/papers/tcpo"
PRINTED = pd.read_csv(FOLDER / "published.csv")
UTILITY_FIRST = (1.0, 0.0)


# Erratum 1.


def joint(rng, values, signals=5):
    """A random joint distribution of an attribute (rows) and what is seen of it, some far from uniform."""
    p = rng.dirichlet(np.full(values * signals, 10 ** rng.uniform(-1, 1))).reshape(values, signals)
    return p * rng.dirichlet(np.full(values, 10 ** rng.uniform(-1, 1)))[:, None] / p.sum(axis=1, keepdims=True)


def told(p):
    """Entropy of the attribute and mutual information in nats, and how often the best guess is right."""
    entropy = entr(p.sum(axis=1)).sum()
    return entropy, entropy + entr(p.sum(axis=0)).sum() - entr(p).sum(), p.max(axis=0).sum()


def equation_4(entropy, information, values):
    return 1 - entropy / np.log(values) + (information + np.log(2)) / np.log(values)


def fano(entropy, information, values):
    """The largest accuracy that Fano's inequality allows: H(s) - I <= h(e) + e log(values - 1), e the error."""
    errors = np.linspace(0, 1 - 1 / values, 20_001)
    most = entr(errors) + entr(1 - errors) + errors * (np.log(values - 1) if values > 2 else 0)
    return 1 - errors[np.argmax(most >= entropy - information - 1e-12)]


def test_equation_4_says_nothing_of_two_values():
    """Its right side is at least 1 for any distribution; Fano's bound holds, and is below 1 wherever s is not known."""
    rng = generator("tcpo 1")
    for _ in range(300):
        entropy, information, accuracy = told(joint(rng, 2))
        assert equation_4(entropy, information, 2) >= 1
        assert accuracy <= fano(entropy, information, 2) + 1e-4
    assert fano(np.log(2), 0.01, 2) < 0.58  # where equation 4 allows every accuracy
    assert equation_4(np.log(2), 0.01, 2) > 1
    for values in (6, 9):  # with more values it is a bound, and Fano's is no worse
        entropy, information, accuracy = told(joint(rng, values, 20))
        assert accuracy <= fano(entropy, information, values) + 1e-4
        assert fano(entropy, information, values) <= equation_4(entropy, information, values) + 1e-4


# Erratum 2.


def test_no_privacy_loss_is_not_no_leak():
    """Two classes of equal means and variances; through the noise 19 of 20 are told, where 1/2 is chance."""
    skewed = torch.tensor([4.0, -1.0, -1.0, -1.0, -1.0], dtype=torch.float64)
    features = torch.cat([skewed, -skewed]).repeat(400)[:, None]
    attribute = torch.tensor([0] * 5 + [1] * 5).repeat(400)
    sigma = 0.5
    assert gaussian_leakage(features, attribute, sigma).item() == pytest.approx(0, abs=1e-12)
    noise = generator("tcpo 2").normal(size=features.shape)
    sent = features[:, 0].numpy() + sigma * noise[:, 0]
    guess = ((sent > 0) & (sent < 2.5)) | (sent < -2.5)
    accuracy = np.mean(guess == attribute.numpy().astype(bool))
    assert accuracy > 0.95


# Erratum 3.


def imbalance(losses):
    """Equation 6 for r = (1, 0), whose ray is the privacy loss's axis."""
    return 1 - losses[1] ** 2 / (losses[0] ** 2 + losses[1] ** 2)


def curved(theta):
    """A utility loss with a curvature across its gradient, a linear privacy loss; both positive near the origin."""
    return np.array([1 + theta[0] + theta[1] ** 2, 1 - theta[0]])


def test_lemma_1_needs_a_strict_inequality():
    """At the origin d = (0, 1) is across both gradients, so that a'G'd = 0; every step along it adds to mu."""
    here, gradients = curved(np.zeros(2)), np.array([[1.0, 0.0], [-1.0, 0.0]])
    a = np.array(anchor(tuple(here), UTILITY_FIRST))
    assert a @ gradients @ (0.0, 1.0) == 0
    for eta in 10.0 ** np.arange(-6, 1):
        assert imbalance(curved(-eta * np.array([0.0, 1.0]))) > imbalance(here)
    rng = generator("tcpo 3")
    for _ in range(100):  # strictly above 0 it holds
        d = rng.normal(size=2)
        d *= np.sign(a @ gradients @ d)
        assert a @ gradients @ d > 0
        assert imbalance(curved(-1e-6 * d)) < imbalance(here)


# Errata 4 to 6: the tables themselves.


def entries(**where):
    found = PRINTED
    for column, value in where.items():
        found = found[found[column].isin(value if isinstance(value, list) else [value])]
    return found.set_index(["item", "dataset", "target", "method", "metric"])["value"]


def random_guess():
    """The printed rate of the most common value, by dataset and target."""
    return entries(method="random_guess").droplevel(["item", "method", "metric"])


def test_tables_3_and_4_disagree_and_fall_below_random_guess():
    first, second = (entries(item=item).droplevel("item") for item in ("table3", "table4"))
    both = pd.concat([first, second], axis=1, join="inner", keys=["table3", "table4"])
    differing = both[both["table3"] != both["table4"]]
    assert len(both) == 2 * 3 * 4  # without a defense and under TCPO
    assert differing.index.tolist() == [("celeba", "male", "tcpo", "dsa_accuracy")]
    assert differing.to_numpy().tolist() == [[56.44, 58.42]]

    attacks = PRINTED[PRINTED["metric"].isin(["basic_accuracy", "dsa_accuracy", "dpa_accuracy"])]
    guess = [random_guess()[row.dataset, row.target] for row in attacks.itertuples()]
    below = attacks[attacks["value"] < guess]
    training = below[below["metric"] != "basic_accuracy"].drop_duplicates(["target", "metric", "value"])
    assert set(zip(training["target"], training["metric"], training["value"], strict=True)) == {
        ("male", "dsa_accuracy", 56.44), ("male", "dpa_accuracy", 58.17),
        ("wearing_lipstick", "dsa_accuracy", 52.68), ("sex", "dpa_accuracy", 66.39),
    }  # fmt: skip
    assert set(below.loc[below["metric"] == "basic_accuracy", "target"]) == {"sex"}


def test_infocensor_is_printed_below_tcpo_at_three_basic_attacks():
    pairs = [entries(item=["table4", "table5"], method=m).droplevel("method") for m in ("tcpo", "infocensor")]
    both = pd.concat(pairs, axis=1, keys=["tcpo", "infocensor"]).drop("utility_accuracy", level="metric")
    worse = both[both["infocensor"] < both["tcpo"]].index.droplevel("item")
    assert set(worse) == {
        ("celeba", "wearing_lipstick", "basic_accuracy"),
        ("health", "age", "basic_accuracy"),
        ("adult", "sex", "basic_accuracy"),
    }


def test_the_stronger_training_attack_is_not_the_strongest():
    """Without a defense basic > DPA > DSA everywhere; under defenses DSA is printed above DPA too."""
    table = entries(item=["table4", "table5"]).unstack("metric")
    undefended = table.xs("none", level="method")
    assert (undefended["basic_accuracy"] > undefended["dpa_accuracy"]).all()
    images = undefended.dropna(subset=["dsa_accuracy"])
    assert len(images) == 3
    assert (images["dpa_accuracy"] > images["dsa_accuracy"]).all()
    reversed_ = table[table["dsa_accuracy"] > table["dpa_accuracy"]].reset_index()
    assert set(zip(reversed_["target"], reversed_["method"], strict=True)) == {("male", "adv"), ("male", "tcpo")}
