"""The rows that an attack finds in every seed: chosen on other seeds, among the rows that all seeds watch."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutlayer.core import artifacts, transcript
from cutlayer.core.seeds import generator
from cutlayer.games.base.attack import GuessSpec
from cutlayer.metrics.exposure import exposure, found_at_rate, most_exposed
from cutlayer.metrics.leakage import leak_auc, true_positives
from cutlayer.stages import vulnerable

W = 400
LABELS = np.arange(W) % 4 == 0


@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=60).map(np.array), st.integers(0, 2**32 - 1), st.floats(0.01, 0.5)
)
def test_means_over_rows_are_the_auc_and_the_true_positives(scores, seed, false):
    labels = np.random.default_rng(seed).permutation(np.arange(len(scores)) % 2)
    assert exposure(scores, labels).mean() == pytest.approx(leak_auc(scores, labels))
    assert found_at_rate(scores, labels, false).mean() == pytest.approx(true_positives(scores, labels, false))


def test_a_row_is_not_chosen_for_the_training_in_which_alone_it_stands_out():
    exposures = np.array([[0.9, 0.1, 0.6], [0.2, 0.8, 0.6], [0.2, 0.1, 0.6]])
    assert most_exposed(exposures, 1).tolist() == [[2], [2], [2]]
    assert most_exposed(exposures, 2)[2].tolist() == [2, 0]


def scored(seed, persistent):
    """Scores of noise, but for four positives that stand out: the same in every seed, or others in each."""
    scores = generator("scores", seed).uniform(size=W)
    first = 0 if persistent else 10 * seed
    scores[np.flatnonzero(LABELS)[first : first + 4]] = 2.0
    return scores


@pytest.mark.parametrize(("persistent", "found"), [(True, 1.0), (False, 0.0)])
def test_rows_that_stand_out_in_all_seeds_are_found_again(persistent, found):
    """Each seed has the rows in another order, and some of its own."""
    rows, labels, scores = [], [], []
    for seed in range(3):
        order = generator("order", seed).permutation(W)
        rows.append(np.concatenate([order, [W + seed]]))
        labels.append(np.concatenate([LABELS[order], [1]]))
        scores.append(np.concatenate([scored(seed, persistent)[order], [3.0]]))
    hits = vulnerable.found_again(rows, labels, scores)
    assert [len(one) for one in hits] == [4, 4, 4]
    assert [one.mean() for one in hits] == [found] * 3


@pytest.fixture
def table(tmp_path, monkeypatch):
    """`table(...)`: what is written of seeds that watch these rows and show the adversary their scores."""

    def infer(view):
        return view.watched_gradients

    spec = GuessSpec((W,), abstains=True)
    attack = SimpleNamespace(target="watched", sees={"watched_gradients"}, skip=lambda view: "", infer=infer)
    protocol = SimpleNamespace(cases=lambda arrays, target: [({"step": 0}, arrays, target)], guess_spec=lambda *_: spec)
    made = {"protocol": protocol, "attack": attack}
    monkeypatch.setattr(vulnerable.plugins, "create", lambda kind, *_: made[kind])

    def make(rows=lambda seed: np.arange(W), failed="", seeds=3, watched=True, labels=LABELS):
        files = [(tmp_path / f"{seed}.transcript", tmp_path / f"{seed}.truth") for seed in range(seeds)]
        for seed, (seen, true) in enumerate(files):
            own = {"a=1": {"watched_gradients": scored(seed, True)}, "a=2": {"watched_gradients": scored(seed, False)}}
            shared = {"watched_rows": rows(seed)} if watched else {}
            transcript.save(seen, own, shared, failed if seed == 1 else "")
            artifacts.write_arrays(true, {"watched_labels": labels.astype(int)})
        output = tmp_path / "vulnerable.csv"
        vulnerable.find(
            "bank", "dp", "split", {"mine": {"use": "mine"}}, *zip(*files, strict=True), range(seeds), output
        )
        return pd.read_csv(output, keep_default_na=False, na_values={"value": [""]})

    return make


def test_every_setting_and_seed_has_its_number(table):
    rows = table()
    found = rows[rows["metric"] == "tpr_of_vulnerable"].pivot(index="setting", columns="seed", values="value")
    assert found.to_numpy().tolist() == [[1, 1, 1], [0, 0, 0]]
    assert set(rows.loc[rows["metric"] == "vulnerable", "value"]) == {4}
    assert (set(rows["setup"]), set(rows["defense"]), set(rows["attack"])) == ({"bank"}, {"dp"}, {"mine"})


@pytest.mark.parametrize(
    ("own", "settings", "reason"),
    [
        (
            {"rows": lambda seed: np.arange(W) + 350 * seed},
            ["a=1", "a=2"],
            "the seeds watch too few rows of both classes in common",
        ),
        ({"labels": np.zeros(W)}, ["a=1", "a=2"], "the seeds watch too few rows of both classes in common"),
        ({"seeds": 1}, ["a=1", "a=2"], "chosen on other seeds, and there is one"),
        ({"failed": "it diverged"}, [""], "it diverged"),
        ({"watched": False}, [""], "for setups that follow rows through the training"),
    ],
)
def test_where_seeds_cannot_be_compared_each_says_why(table, own, settings, reason):
    rows = table(**own)
    assert list(dict.fromkeys(rows["setting"])) == settings
    assert set(rows["seed"]) == set(range(own.get("seeds", 3)))
    assert rows["skipped"].str.contains(reason).all()
    assert rows["value"].isna().all()
