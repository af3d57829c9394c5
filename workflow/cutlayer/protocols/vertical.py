"""vertical: two parties hold different features of the same people; predictions reveal scores.

The active party has labels and features Y, the passive party features X. A model trained on all features
is used at prediction time: c = softmax(W_act Y + W_pas X + b). The active party sees the scores, its own
features, and what is published of the model (white box); it wants X.

Which features are passive is a window: d consecutive columns from `start`, cyclic. The model is trained
once and every window is another adversary, so "averaging over space" is averaging over windows.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", III, VIII.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from .. import plugins
from ..defenses.base import Defense, Wire
from ..equations import softmax
from ..metrics.divergence import kullback_leibler
from ..metrics.reconstruction import mse
from ..preprocess import prepare
from ..seeds import generator, seed_of
from ..transcript import Arrays
from ..windows import columns, windows
from .base import Case, Outcome, Protocol, Task


class Vertical(Protocol):
    """Train on all features, predict, and show each window's adversary its part."""

    shows: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive_weights", "bias", "passive"}
    keys: ClassVar[set[str]] = {
        "fit_on", "model", "model_of", "predictions", "kl_predictions", "windows", "passive", "subsets",
    }  # fmt: skip

    def run(self, task: Task) -> Outcome:
        """Train (or take the undefended run's model), then predict under every setting."""
        rng = generator(task.origin, task.seed, "split")
        order = rng.permutation(len(task.table.labels))
        train, test = np.split(order, [round(0.8 * len(order))])
        X, _ = prepare(task.table, train, task.settings["fit_on"])
        weights, bias = _model(task, X, train)
        rows = test[: task.settings["predictions"]]
        names = task.table.feature_names
        places = windows(X.shape[1], task.settings["windows"], task.settings.get("passive"), names)
        outcome = Outcome(
            shared={"features": X[rows], "windows": np.array(places), "subsets": _subsets(task, len(rows))},
            truth={"features": X[rows], "population": X},
            learned={"weights": weights, "bias": bias},
        )
        everyone = order[: task.settings["kl_predictions"]]
        before = X @ weights.T + bias
        for setting, defense in task.defenses.items():
            models = _served(task, defense, X, train, (weights, bias), places)
            shown = []
            for (d, start), served in zip(places, models, strict=True):
                passive = columns(X.shape[1], d, start)
                wire = Wire(served.weights[:, passive], X[:, passive], generator(task.name, setting, d, start))
                shown.append(_show(defense, served, rows, passive, wire))
                cost = _cost(defense, served, before, task.table.labels, (everyone, test), wire)
                outcome.utility += [
                    {"setting": setting, "d": d, "start": start, "metric": metric, "value": value}
                    for metric, value in cost
                ]
            outcome.transcripts[setting] = {key: np.stack([s[key] for s in shown]) for key in shown[0]}
        return outcome

    def cases(self, transcript: Arrays) -> Iterator[tuple[Case, dict[str, np.ndarray], np.ndarray]]:
        """Every window, and within it every subset of the predictions."""
        features, total = transcript["features"], transcript["features"].shape[1]
        for place, (d, start) in enumerate(transcript["windows"]):
            passive = columns(total, d, start)
            active = np.setdiff1d(np.arange(total), passive)
            weights = transcript["weights"][place]
            for repeat, subset in enumerate(transcript["subsets"]):
                rows = subset[subset >= 0]
                case = {"d": int(d), "start": int(start), "predictions": len(rows), "repeat": repeat}
                seen = {
                    "scores": transcript["scores"][place][rows],
                    "active_features": features[np.ix_(rows, active)],
                    "active_weights": weights[:, active],
                    "passive_weights": weights[:, passive],
                    "bias": transcript["bias"][place],
                    "passive": passive,
                }
                yield case, seen, rows

    def leak(self, guess: np.ndarray, truth: Arrays, case: Case, rows: np.ndarray) -> dict[str, float]:
        """Mean squared error per feature of the passive party's features."""
        passive = columns(truth["features"].shape[1], case["d"], case["start"])
        return {"mse": mse(guess, truth["features"][np.ix_(rows, passive)])}


class _Served:
    """A model as it is used for prediction, and its logits for all rows."""

    def __init__(self, weights: np.ndarray, bias: np.ndarray, X: np.ndarray) -> None:
        self.weights, self.bias, self.logits = weights, bias, X @ weights.T + bias


def _model(task: Task, X: np.ndarray, train: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if task.trained is not None:
        return task.trained["weights"], task.trained["bias"]
    unscaled = np.ones((1, X.shape[1]))
    weights, bias = _fit(task, X, train, unscaled, 0 * unscaled)
    return weights[0], bias[0]


def _fit(
    task: Task, X: np.ndarray, train: np.ndarray, scale: np.ndarray, shift: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Every run of a setup and seed starts alike, so that defenses are compared on the same model."""
    options = dict(task.settings["model"])
    model = plugins.create("model", options.pop("use"), options)
    seed = seed_of(task.origin, task.seed, "model")
    return model.fit(X[train], task.table.labels[train], task.table.classes, scale, shift, seed, task.name)


def _served(
    task: Task,
    defense: Defense,
    X: np.ndarray,
    train: np.ndarray,
    model: tuple[np.ndarray, np.ndarray],
    places: list[tuple[int, int]],
) -> list[_Served]:
    """The model that serves each window: the same one, unless the defense trains on rescaled features."""
    if defense.rescaling == (1.0, 0.0):
        return [_Served(*model, X)] * len(places)
    scale, shift = np.ones((len(places), X.shape[1])), np.zeros((len(places), X.shape[1]))
    for place, (d, start) in enumerate(places):
        passive = columns(X.shape[1], d, start)
        scale[place, passive], shift[place, passive] = defense.rescaling
    weights, bias = _fit(task, X, train, scale, shift)
    return [_Served(weights[v], bias[v], scale[v] * X + shift[v]) for v in range(len(places))]


def _show(
    defense: Defense, served: _Served, rows: np.ndarray, passive: np.ndarray, wire: Wire
) -> dict[str, np.ndarray]:
    """What crosses to the active party for the predicted rows, the model in the order of the columns."""
    weights = served.weights.copy()
    weights[:, passive], bias = defense.publish(served.weights[:, passive], served.bias, wire)
    return {"scores": defense.reveal(served.logits[rows], wire), "weights": weights, "bias": bias}


def _cost(
    defense: Defense,
    served: _Served,
    before: np.ndarray,
    labels: np.ndarray,
    rows: tuple[np.ndarray, np.ndarray],
    wire: Wire,
) -> list[tuple[str, Any]]:
    """Utility: divergence from the undefended scores, test accuracy, share of changed decisions."""
    everyone, test = rows
    original, scores = softmax(before[everyone]), defense.reveal(served.logits[everyone], wire)
    decided, was = defense.reveal(served.logits[test], wire).argmax(1), before[test].argmax(1)
    return [
        ("kl", kullback_leibler(original, scores)),
        ("accuracy", float(np.mean(decided == labels[test]))),
        ("changed_decisions", float(np.mean(decided != was))),
    ]


def _subsets(task: Task, available: int) -> np.ndarray:
    """Row numbers of each subset of the predictions to attack, padded with -1: by default one, all of them."""
    wanted = task.settings.get("subsets")
    if not wanted:
        return np.arange(available)[None]
    rng = generator(task.setup, task.seed, "subsets")
    sizes = wanted["sizes"] if isinstance(wanted["sizes"], list) else range(1, wanted["sizes"] + 1)
    chosen = [rng.choice(available, n, replace=False) for n in sizes for _ in range(wanted["repeats"])]
    return np.stack([np.pad(rows, (0, max(sizes) - len(rows)), constant_values=-1) for rows in chosen])
