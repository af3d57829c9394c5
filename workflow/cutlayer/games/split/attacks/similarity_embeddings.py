"""similarity_embeddings: infers labels of new rows from how close their embeddings are to those of known rows.

Rows of a class are embedded in one place once the bottom model has learned, so that predictions leak labels though no
gradient is seen: the cheap baseline of model_completion. The forms are those of `similarity`, on Euclidean distances of
embeddings, or of their directions with `cosine`, as SecretFlow's code always has it; the clusters of `kmeans` and
`spectral` are of all rows that the feature party has. What defends embeddings (dcor, peloss, a cut further forward) is
held against this.

Liu et al., "Similarity-based Label Inference Attack against Training and Inference of Split Learning", 2203.05222.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import softmax

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.base.snapshot import embedded
from cutlayer.games.split.attack import Attack

from ._directions import directions
from ._similarity import first_of_each, scores, too_few


@dataclass(frozen=True)
class SimilarityEmbeddings(Attack):
    """Class probabilities of the attacked rows by the similarity of embeddings."""

    target: ClassVar[str] = "population"
    sees: ClassVar[set[str]] = {
        "bottom", "architecture", "features", "known", "known_labels", "attacked", "classes",
    }  # fmt: skip
    needs: ClassVar[set[str]] = {"known"}
    limits: ClassVar[Limits] = {"known": (1, None)}

    form: Literal["nearest", "kmeans", "logistic", "spectral"] = "nearest"
    cosine: bool = False
    known: int = 4  # of each class

    def skip(self, view: View) -> str:
        """Needs rows of each class with known labels."""
        if "features" not in view or not len(view.known):
            return "for feature parties that know some labels, here it knows none"
        return too_few(view.known_labels, int(view.classes), self.known)

    def infer(self, view: View) -> np.ndarray:
        """Class probabilities (m, k) float64 of the attacked rows: the softmax of the scores in units of their size."""
        points = embedded(view.architecture, view.bottom, view.features, view.device)
        points = directions(points) if self.cosine else points
        used = first_of_each(view.known_labels, int(view.classes), self.known)
        seed = int(view.rng.integers(2**31))
        found = scores(points, np.array(view.known)[used], view.known_labels[used], self.form, seed)
        return np.asarray(softmax(found[view.attacked] / (np.abs(found).mean() or 1), axis=1))
