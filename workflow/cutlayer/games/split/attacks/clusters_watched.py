"""clusters_watched: recovers fake classes from all epochs of tracked records, and groups them by the party's features.

The directions of a tracked record's gradients in all epochs, concatenated, are clustered by K-means into as many
clusters as the label party trains on. `size`, for two classes: the smaller the cluster, the more likely positive.
`features`, for any number: each class has equally many clusters; those that hold a class's known rows begin it, and
the others are dealt so that the rows of a class have features as alike as can be. That is K-means over the clusters'
mean features with groups of equal size (Bradley, Bennett, Demiriz, "Constrained K-Means Clustering"), begun at the
known rows; one known label a class names all. Known rows are not guessed.

Ours, against Jiang et al., "Training on Fake Labels: Mitigating Label Leakage in Split Learning via Secure Dimension
Transformation".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._directions import directions
from ._epochs import lacks_epochs, tracked
from ._groups import groups
from ._own_features import numbers

ROUNDS = 20  # of the constrained K-means, which mostly settles after three


@dataclass(frozen=True)
class ClustersWatched(Attack):
    """Clusters tracked records over all epochs, and assigns clusters to classes by size, or by features and labels."""

    target: ClassVar[str] = "watched"
    knows: ClassVar[str] = "how many classes are trained on, which secdt keeps secret"
    sees: ClassVar[set[str]] = {
        "watched_gradients", "watched_steps", "watched_features", "architecture", "known_labels", "classes", "outputs",
    }  # fmt: skip
    needs: ClassVar[set[str]] = {"known"}
    limits: ClassVar[Limits] = {"known": (1, None), "starts": (1, None)}
    cheap: ClassVar[bool] = True

    by: Literal["size", "features"] = "features"
    known: int = 1  # of each class, for `features`
    starts: int = 4
    epochs: Literal["all", "first"] = "all"

    def skip(self, view: View) -> str:
        """Rows have to come back; size tells two classes apart, and features need a known row of each class."""
        if reason := lacks_epochs(view, self.epochs):
            return reason
        if self.by == "size":
            return "" if view.classes == 2 else f"by size for 2 classes, here there are {view.classes}"
        fewest = int(np.bincount(view.known_labels, minlength=int(view.classes)).min()) if "known_labels" in view else 0
        return "" if fewest >= self.known else f"for {self.known} known labels of each class, here there are {fewest}"

    def infer(self, view: View) -> np.ndarray:
        """Scores (W,) of the tracked records, (W, classes) for more than two classes; NaN where labels are used."""
        classes, (gradients, steps) = int(view.classes), tracked(view, self.epochs)
        side_by_side = np.concatenate([*directions(gradients)], axis=1)
        how = int(view.outputs), self.starts, int(view.rng.integers(2**31))
        if self.by == "size":
            return by_size(side_by_side, np.asarray((steps >= 0).any(axis=0)), *how)
        found = groups(side_by_side, *how)
        labels = np.array(view.known_labels)
        known = np.concatenate([np.flatnonzero(labels == label)[: self.known] for label in range(classes)])
        features = numbers(view.watched_features, view.architecture)
        chances = np.eye(classes)[merged(found, features, known, labels[known], classes)]
        chances[known] = np.nan
        return chances[:, 1] if classes == 2 else chances


def by_size(points: np.ndarray, there: np.ndarray, k: int, starts: int, seed: int) -> np.ndarray:
    """Minus the log size (W,) of each row's cluster, of `k` K-means clusters of those points (W, D) that are `there`.

    Rows that are not are in the middle of the scores: as equal points they were a cluster, as small as a rare class's.
    """
    found = groups(points[there], k, starts, seed)
    sizes = -np.log(np.bincount(found)[found])
    scores = np.full(len(there), (sizes.min() + sizes.max()) / 2)
    scores[there] = sizes
    return scores


def merged(found: np.ndarray, features: np.ndarray, known: np.ndarray, labels: np.ndarray, classes: int) -> np.ndarray:
    """The class (W,) of each row when clusters `found` (W,) are assigned to classes evenly, by their features (W, p).

    `known` (m,) rows have these `labels` (m,); every class has one at least.
    """
    sizes = np.bincount(found)
    means = np.stack([np.bincount(found, column) for column in features.T], axis=1) / sizes[:, None]
    room = -(-len(sizes) // classes)  # clusters that a class can have
    centers = np.stack([means[found[known[labels == label]]].mean(axis=0) for label in range(classes)])
    votes = np.zeros((len(sizes), classes))
    np.add.at(votes, (found[known], labels), 1)
    owner = np.full(len(sizes), -1)
    for _ in range(ROUNDS):
        cost = sizes[:, None] * np.square(means[:, None] - centers).sum(axis=2)
        cost = cost - 2 * cost.max() * (votes == votes.max(axis=1, keepdims=True)) * (votes > 0)
        rows, places = linear_sum_assignment(np.repeat(cost, room, axis=1))
        before, owner[rows] = owner.copy(), places // room
        if (owner == before).all():
            break
        weights = np.eye(classes)[owner] * sizes[:, None]
        total = weights.sum(axis=0)[:, None]
        centers = np.where(total > 0, weights.T @ means / np.maximum(total, 1), centers)
    return owner[found]
