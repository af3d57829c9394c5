"""similarity: infers labels from how close a record's gradients are to those of a few records with known labels.

Gradients of one class have one direction, so that records of a class are close once each is scaled to length 1. `form`
says how: the `nearest` known record; `kmeans`, begun at a known record of each class; `spectral` clustering with cosine
affinities; or `logistic` regression on the known records. Clusters are named by the assignment that agrees most with
the known records, which are not guessed. `last` takes each record's last gradient, as in SecretFlow's code; `all`,
ours, all epochs side by side. The paper's third form, a transfer attack, could not be read; `logistic` is ours.

SecretFlow's code counts known records in its accuracy, and its spectral form names clusters by the majority of the true
labels, an oracle. Passive, for any number of classes.

Liu et al., "Similarity-based Label Inference Attack against Training and Inference of Split Learning", 2203.05222.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._directions import directions
from ._epochs import tracked
from ._similarity import first_of_each, guess_of, lacks_known, scores


@dataclass(frozen=True)
class Similarity(Attack):
    """Scores of classes by the similarity of directions of gradients, of the last or of all epochs."""

    target: ClassVar[str] = "watched"
    sees: ClassVar[set[str]] = {"watched_gradients", "watched_steps", "known_labels", "classes"}
    needs: ClassVar[set[str]] = {"known"}
    limits: ClassVar[Limits] = {"known": (1, None)}
    cheap: ClassVar[bool] = True

    form: Literal["nearest", "kmeans", "logistic", "spectral"] = "nearest"
    epochs: Literal["last", "all"] = "last"
    known: int = 4  # of each class

    def skip(self, view: View) -> str:
        """Needs tracked records, and known ones of each class."""
        return lacks_known(view, self.epochs, self.known)

    def infer(self, view: View) -> np.ndarray:
        """Scores (W,) of the tracked records, (W, classes) for more than two classes; NaN where labels are used."""
        classes, (gradients, _) = int(view.classes), tracked(view, self.epochs)
        known = first_of_each(view.known_labels, classes, self.known)
        points = np.concatenate([*directions(gradients)], axis=1)
        seed = int(view.rng.integers(2**31))
        return guess_of(scores(points, known, view.known_labels[known], self.form, seed), known)
