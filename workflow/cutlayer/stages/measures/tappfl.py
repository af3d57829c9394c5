"""Theorems 1 and 2 of the tappfl paper measured on the representations of a run, and the points of its figure 3.

An adversary that is retrained stands for the worst one, so what is measured leans to one side:

- `advantage` is at most that of the worst adversary, but for chance, so `theorem1_bound` and `theorem1_bound_any` are
  at least the bounds. An error above them is above the bounds too; one below them refutes nothing. The task's own
  classifier is among the adversaries: `theorem1_error` cannot be below `theorem1_bound_any`.
- `conditional_entropy`, a cross-entropy on rows that the adversary was not fitted to, is at least H(u | r), but for
  chance, so `theorem2_bound_*` are at most the bounds. An accuracy below them is below the bounds too; one above them
  refutes nothing.
- `entropy_given_guess` is exact: the entropy of u given the guess, of the attacked rows as they are. The guess is a
  representation too, so of it an accuracy above `theorem2_bound_printed_of_guess` refutes the printed theorem; none can
  be above `theorem2_bound_corrected_of_guess`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cutlayer.metrics.attributes import accuracy
from cutlayer.stages.theory import Case
from cutlayer.theory.tappfl import (
    conditional_entropy,
    difference,
    err,
    theorem1,
    theorem1_any,
    theorem2_corrected,
    theorem2_printed,
)

from ._held_out import cross_entropy, retrained
from ._points import points

OF_TWO = (
    "advantage", "delta_y_given_u", "lipschitz", "theorem1_bound", "theorem1_bound_any", "theorem1_error",
    "theorem1_cross_entropies",
)  # fmt: skip
Arrays = Mapping[str, np.ndarray]
Rows = Iterator[dict[str, Any]]


def measure(seen: Arrays, truth: Arrays, case: Case) -> Rows:
    """Rows (metric, value, point) for one setting and seed of a federated run; entropies are in bits.

    What is not defined has a row that says why.
    """
    values, attribute = int(seen["values"]), truth["attribute"]
    inferred = retrained(
        seen["known"], seen["known_attribute"], seen["attacked"], values, case.generator("adversaries")
    )
    found = _theorem2(inferred, attribute, values) | {"radius": _radius(seen["known"], seen["attacked"])}
    yield from ({"metric": metric, "value": value} for metric, value in found.items())
    yield from _theorem1(seen, truth, inferred)
    yield from points(seen, truth, case)


def _theorem2(inferred: list[np.ndarray], attribute: np.ndarray, values: int) -> dict[str, float]:
    """Theorem 2 for the adversary that did best on known rows, and the accuracy of the best on the attacked rows."""
    entropy = min(cross_entropy(inferred[0], attribute), math.log2(values))
    joint = np.zeros((values, values))
    np.add.at(joint, (attribute, inferred[0].argmax(axis=1)), 1)
    exact = conditional_entropy(joint)
    return {
        "accuracy": accuracy(inferred[0], attribute),
        "accuracy_best": max(accuracy(probabilities, attribute) for probabilities in inferred),
        "conditional_entropy": entropy,
        "theorem2_bound_printed": theorem2_printed(entropy),
        "theorem2_bound_corrected": theorem2_corrected(entropy, values),
        "entropy_given_guess": exact,
        "theorem2_bound_printed_of_guess": theorem2_printed(exact),
        "theorem2_bound_corrected_of_guess": theorem2_corrected(exact, values),
    }


def _theorem1(seen: Arrays, truth: Arrays, inferred: list[np.ndarray]) -> Rows:
    """Theorem 1 for a task classifier sigmoid(w r + b), whose Lipschitz norm is |w| / 4; cross-entropies in nats."""
    attribute, labels = truth["attribute"], truth["labels"]
    reason = _beyond(seen, truth)
    if reason:
        yield from ({"metric": metric, "value": None, "skipped": reason} for metric in OF_TWO)
        return
    positive, lipschitz = _classifier(seen, truth)
    guesses = [probabilities.argmax(axis=1) for probabilities in inferred] + [positive > 0.5]
    advantage = max(difference(guess, attribute) for guess in guesses)
    delta = difference(labels, attribute)
    likelihood = np.where(labels == 1, positive, 1 - positive)
    found = {
        "advantage": advantage,
        "delta_y_given_u": delta,
        "lipschitz": lipschitz,
        "theorem1_bound": theorem1(delta, advantage, _radius(seen["known"], seen["attacked"]), lipschitz),
        "theorem1_bound_any": theorem1_any(delta, advantage),
        "theorem1_error": err((positive > 0.5) != labels, attribute),
        "theorem1_cross_entropies": err(-np.log(likelihood), attribute),
    }
    yield from ({"metric": metric, "value": found[metric]} for metric in OF_TWO)


def _beyond(seen: Arrays, truth: Arrays) -> str:
    """Reason why theorem 1 does not apply to a run; empty if it does."""
    classes = int(max(truth["labels"].max(), truth["known_labels"].max())) + 1
    if (int(seen["values"]), classes) != (2, 2):
        return (
            f"for an attribute of 2 values and a task of 2 classes, here they have {int(seen['values'])} and {classes}"
        )
    if len(np.unique(truth["attribute"])) < 2 or len(np.unique(truth["known_labels"])) < 2:
        return "for rows with both values and both classes"
    return ""


def _radius(*parts: np.ndarray) -> float:
    """R of theorem 1: the largest norm of all representations (n, ...)."""
    return float(max(np.linalg.norm(part.reshape(len(part), -1), axis=1).max() for part in parts))


def _classifier(seen: Arrays, truth: Arrays) -> tuple[np.ndarray, float]:
    """Probabilities (m,) of the attacked rows' second class by a logistic regression, and its Lipschitz norm."""
    known, attacked = (seen[name].reshape(len(seen[name]), -1).astype(np.float64) for name in ("known", "attacked"))
    scaler, regression = StandardScaler(), LogisticRegression(C=0.1, max_iter=300)
    method = make_pipeline(scaler, regression).fit(known, truth["known_labels"])
    weights = regression.coef_[0] / scaler.scale_
    return method.predict_proba(attacked)[:, 1].clip(1e-12, 1 - 1e-12), float(np.linalg.norm(weights)) / 4
