"""Priors: the chance of each audited row's label given its features, for every seed of a setup.

The model of a seed is the candidate with the least log loss on the audited rows of all other seeds. Those of the seed
itself choose nothing, as their labels are what the leak beyond features is measured on; most rows are audited in every
seed, so that the choice, of two candidates, is not independent of them. Whether features predict so
much that nothing can be said of what is beyond them is decided once for a setup, by the mean over its seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cutlayer.core import artifacts
from cutlayer.core.errors import InputError
from cutlayer.core.progress import steps
from cutlayer.core.seeds import generator, seed_of
from cutlayer.core.transcript import Arrays
from cutlayer.data.normalised import read
from cutlayer.games.base.protocol import Protocol, Rows, Task
from cutlayer.ledger.worst import choices
from cutlayer.metrics.beyond import adjusted_auc, features_suffice
from cutlayer.metrics.prior import CANDIDATES, FOLDS, SURE, estimates, log_loss
from cutlayer.plan import plugins

MOST = 50_000  # rows that a model is fitted to
FEWEST = 2 * FOLDS  # of either label


def fit(setup: str, settings: Mapping[str, Any], data: str | Path, seeds: Sequence[int], output: str | Path) -> None:
    """Write for each seed `<seed>|row_prior` (m,), its model's name (`row_prior_model`), and whether features predict
    (nearly) everything (`row_prior_suffices`).
    """
    table, _ = read(data, settings["dataset"])
    protocol: Protocol = plugins.create("protocol", settings["protocol"])
    parts = [protocol.audited(Task(setup, "prior", seed, table, settings, {})) for seed in seeds]
    numbered = steps(list(zip(seeds, parts, strict=True)), f"prior {setup}")
    found = [_estimated(rows, setup, seed) for seed, rows in numbered]
    each = zip(found, parts, strict=True)
    losses = np.array([[log_loss(chance, rows.label) for chance in one.values()] for one, rows in each])
    names = [[*CANDIDATES][place] for place in (choices(-losses) if len(seeds) > 1 else [0])]
    priors = [one[name] for one, name in zip(found, names, strict=True)]
    suffice = np.array(_suffice(parts, priors))
    arrays: dict[str, np.ndarray] = {}
    for seed, prior, name in zip(seeds, priors, names, strict=True):
        model = np.frombuffer(name.encode(), dtype=np.uint8)
        arrays |= {f"{seed}|row_prior": prior, f"{seed}|row_prior_model": model, f"{seed}|row_prior_suffices": suffice}
    artifacts.write_arrays(output, arrays)


def of_seed(path: str | Path, seed: int) -> Arrays:
    """The arrays of one seed, for its truth."""
    arrays, _ = artifacts.read_arrays(path)
    own = f"{seed}|"
    return {name.removeprefix(own): array for name, array in arrays.items() if name.startswith(own)}


def _estimated(rows: Rows, setup: str, seed: int) -> dict[str, np.ndarray]:
    if np.append(rows.label, rows.others_label).max() > 1:
        raise InputError(f"prior.{setup}", "has labels of several classes", "expected two classes")
    if np.bincount(rows.others_label, minlength=2).min() < FEWEST:  # no model: all rows have the same prospects
        share = np.clip(rows.others_label.mean() if len(rows.others_label) else 0.5, SURE, 1 - SURE)
        return dict.fromkeys(CANDIDATES, np.full(len(rows.label), share, dtype=np.float32))
    some = generator(setup, seed, "prior").permutation(len(rows.others))[:MOST]
    others, label = rows.others[some], rows.others_label[some]
    return estimates(others, label, rows.codes, rows.features, seed_of(setup, seed, "prior") % 2**32)


def _suffice(parts: Sequence[Rows], priors: Sequence[np.ndarray]) -> bool:
    """Whether the mean self-test over the seeds fails, or cannot be made, as all rows have one label.

    Seeds share rows, so that the error of the mean is that of one.
    """
    tests = [adjusted_auc(prior, rows.label, prior) for rows, prior in zip(parts, priors, strict=True)]
    known = [test for test in tests if test]
    return not known or features_suffice(*np.mean(known, axis=0))
