"""vertical: prediction in vertical federated learning, where two parties hold different features of the same people.

The active party has labels and features Y, the passive party features X. A model trained on all features
is used at prediction time: c = softmax(W_act Y + W_pas X + b). The active party sees the scores, its own
features, and the published part of the model (white box); it wants X.

The passive features are a window: d consecutive columns from `start`, cyclic. The model is trained
once and every window has an adversary of its own, so "averaging over space" is averaging over windows. A transcript
therefore holds the columns of all parties; the view of a window's adversary holds the active ones only.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", III, VIII.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cutlayer.core.seeds import generator, seed_of
from cutlayer.core.transcript import Arrays
from cutlayer.games.base.attack import GuessSpec
from cutlayer.games.base.defense import described
from cutlayer.games.base.protocol import Case, Outcome, Protocol, Task
from cutlayer.games.vertical.defense import Context, Defense
from cutlayer.metrics.divergence import kullback_leibler
from cutlayer.metrics.reconstruction import mse
from cutlayer.plan import plugins

from .equations import softmax
from .preprocess import prepare
from .windows import columns, windows


class Vertical(Protocol):
    """Predictions in vertical federated learning, with a curious active party for each window of passive features."""

    shows: ClassVar[set[str]] = {
        "scores", "active_features", "active_weights", "passive_weights", "bias", "passive", "defense",
        "own_features", "own_labels",
    }  # fmt: skip
    targets: ClassVar[set[str]] = {"features"}
    models: ClassVar[str] = "undefended"
    keys: ClassVar[set[str]] = {
        "fit_on", "model", "model_of", "predictions", "kl_predictions", "windows", "passive", "subsets",
    }  # fmt: skip

    def run(self, task: Task) -> Outcome:
        """Train (or take the undefended run's model), then predict under every setting of the defense."""
        data = _prepared(task)
        model = _model(task, data, {})
        places = windows(
            data.X.shape[1], task.settings["windows"], task.settings.get("passive"), task.table.feature_names
        )
        outcome = Outcome(
            shared={
                "features": data.X[data.rows],
                "training": data.X[data.train],
                "training_labels": data.labels[data.train],
                "windows": np.array(places),
                "subsets": _subsets(task, len(data.rows)),
            },
            truth={"features": data.X[data.rows], "population": data.X},
            learned={"weights": model.weights, "bias": model.bias},
        )
        for setting, defense in task.defenses.items():
            shown, before = [], _model(task, data, defense.training) if defense.training else model
            for (d, start), served in zip(places, _served(task, defense, data, before, places), strict=True):
                passive = columns(data.X.shape[1], d, start)
                rng = generator(task.name, setting, d, start)
                context = Context(served.weights[:, passive], data.X[:, passive], rng)
                shown.append(_show(defense, served, data.rows, passive, context))
                place = {"setting": setting, "d": d, "start": start}
                outcome.utility += [place | row for row in _cost(defense, served, before, data, context)]
            outcome.transcripts[setting] = {key: _once([s[key] for s in shown]) for key in shown[0]}
            outcome.transcripts[setting]["defense"] = described(defense)
        return outcome

    def cases(self, transcript: Arrays, target: str) -> Iterator[tuple[Case, dict[str, np.ndarray], np.ndarray]]:
        """The attacked views: every window, and within it every subset of the predictions."""
        features, total = transcript["features"], transcript["features"].shape[1]
        for place, (d, start) in enumerate(transcript["windows"]):
            passive = columns(total, d, start)
            active = np.setdiff1d(np.arange(total), passive)
            own = {"own_features": transcript["training"][:, active], "own_labels": transcript["training_labels"]}
            scores, weights, bias = (_at(transcript[key], place) for key in ("scores", "weights", "bias"))
            for repeat, subset in enumerate(transcript["subsets"]):
                rows = subset[subset >= 0]
                case = {"d": int(d), "start": int(start), "predictions": len(rows), "repeat": repeat}
                seen = {
                    "scores": scores[rows],
                    "active_features": features[np.ix_(rows, active)],
                    "active_weights": weights[:, active],
                    "passive_weights": weights[:, passive],
                    "bias": bias,
                    "passive": passive,
                    "defense": transcript["defense"],
                    **own,
                }
                yield case, seen, rows

    def guess_spec(self, seen: Arrays, target: str) -> GuessSpec:
        """The expected guess: the passive party's features of each prediction."""
        return GuessSpec((len(seen["scores"]), len(seen["passive"])))

    def leak(
        self, guess: np.ndarray, truth: Arrays, case: Case, rows: np.ndarray, given: ArrayLike = ()
    ) -> dict[str, float]:
        """Mean squared error of the estimate, per passive feature."""
        passive = columns(truth["features"].shape[1], case["d"], case["start"])
        return {"mse": mse(guess, truth["features"][np.ix_(rows, passive)])}


@dataclass(frozen=True)
class _Data:
    """Features in [0, 1], labels, and the rows for training, test, prediction, and the comparison by KL."""

    X: np.ndarray
    labels: np.ndarray
    train: np.ndarray
    test: np.ndarray
    rows: np.ndarray
    compared: np.ndarray


class _Served:
    """A model in use for prediction, and its logits for all rows."""

    def __init__(self, weights: np.ndarray, bias: np.ndarray, X: np.ndarray) -> None:
        self.weights, self.bias, self.logits = weights, bias, X @ weights.T + bias


def _prepared(task: Task) -> _Data:
    """A random 80/20 split; the predicted rows are a part of the test rows."""
    order = generator(task.origin, task.seed, "split").permutation(len(task.table.labels))
    train, test = np.split(order, [round(0.8 * len(order))])
    X, _ = prepare(task.table, train, task.settings["fit_on"])
    rows, compared = test[: task.settings["predictions"]], order[: task.settings["kl_predictions"]]
    return _Data(X, task.table.labels, train, test, rows, compared)


def _model(task: Task, data: _Data, own: Mapping[str, Any]) -> _Served:
    """The undefended run's model, or one with parameters of its own."""
    if task.trained is not None and not own:
        return _Served(task.trained["weights"], task.trained["bias"], data.X)
    unscaled = np.ones((1, data.X.shape[1]))
    weights, bias = _fit(task, data, unscaled, 0 * unscaled, own)
    return _Served(weights[0], bias[0], data.X)


def _fit(
    task: Task, data: _Data, scale: np.ndarray, shift: np.ndarray, own: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Train with the seed of the setup, so that defenses are compared on the same model."""
    name, parameters = plugins.used(task.settings["model"])
    model = plugins.create("model", name, {**parameters, **own})
    X, labels, seed = data.X[data.train], data.labels[data.train], seed_of(task.origin, task.seed, "model")
    return model.fit(X, labels, task.table.classes, scale, shift, seed, task.name, task.device)


def _served(task: Task, defense: Defense, data: _Data, model: _Served, places: list[tuple[int, int]]) -> list[_Served]:
    """The model that serves each window: the same one, unless the defense trains on rescaled features."""
    if defense.rescaling == (1.0, 0.0):
        return [model] * len(places)
    total = data.X.shape[1]
    scale, shift = np.ones((len(places), total)), np.zeros((len(places), total))
    for place, (d, start) in enumerate(places):
        passive = columns(total, d, start)
        scale[place, passive], shift[place, passive] = defense.rescaling
    weights, bias = _fit(task, data, scale, shift, defense.training)
    return [_Served(weights[v], bias[v], scale[v] * data.X + shift[v]) for v in range(len(places))]


def _show(
    defense: Defense, served: _Served, rows: np.ndarray, passive: np.ndarray, context: Context
) -> dict[str, np.ndarray]:
    """What the active party sees: scores of the predicted rows, and the model in the order of the columns."""
    weights = served.weights.copy()
    weights[:, passive], bias = defense.publish(served.weights[:, passive], served.bias.copy(), context)
    shown = {"scores": defense.reveal(served.logits[rows], context), "weights": weights, "bias": bias}
    return {name: np.array(part) for name, part in shown.items()}  # a defense may return one array again and again


def _cost(defense: Defense, served: _Served, model: _Served, data: _Data, context: Context) -> Iterator[dict[str, Any]]:
    """Utility metrics: divergence from the undefended scores, test accuracy, share of changed decisions; the bound."""
    original, scores = softmax(model.logits[data.compared]), defense.reveal(served.logits[data.compared], context)
    if defense.distributions:
        yield {"metric": "kl", "value": kullback_leibler(original, scores)}
    if defense.auc_bound is not None:
        yield {"metric": "promise", "value": defense.auc_bound}
    decided = defense.reveal(served.logits[data.test], context).argmax(axis=1)
    was = model.logits[data.test].argmax(axis=1)
    yield {"metric": "accuracy", "value": float(np.mean(decided == data.labels[data.test]))}
    yield {"metric": "changed_decisions", "value": float(np.mean(decided != was))}


def _once(windows: list[np.ndarray]) -> np.ndarray:
    """One array for each window, or a single one if they are all equal."""
    same = all(np.array_equal(shown, windows[0]) for shown in windows)
    return np.stack(windows[:1] if same else windows)


def _at(arrays: np.ndarray, place: int) -> np.ndarray:
    """The array of a window, from those of `_once`."""
    return arrays[place if len(arrays) > 1 else 0]


def _subsets(task: Task, available: int) -> np.ndarray:
    """Row numbers of each attacked subset of the predictions, padded with -1: by default one, all of them."""
    wanted = task.settings.get("subsets")
    if not wanted:
        return np.arange(available)[None]
    rng = generator(task.setup, task.seed, "subsets")
    sizes = wanted["sizes"] if isinstance(wanted["sizes"], list) else range(1, wanted["sizes"] + 1)
    chosen = [rng.choice(available, n, replace=False) for n in sizes for _ in range(wanted["repeats"])]
    return np.stack([np.pad(rows, (0, max(sizes) - len(rows)), constant_values=-1) for rows in chosen])
