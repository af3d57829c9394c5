"""spectral: separates the classes along the first principal axis of a batch's gradients or embeddings.

The score is the projection of the centered gradients (or embeddings) on their top right singular vector. Its sign is
arbitrary: the guess is its square, `signed` the projection itself (for the symmetrized AUC), `clusters` the labels of
exact two-means clustering of the projections, with the smaller cluster as positive.

Sun et al., "Label Leakage and Protection from Forward Embedding in Vertical Federated Learning"; as used in Jiang et
al., "Training on Fake Labels".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.split.attack import Attack

from ._principal import score
from ._two_means import two_means


@dataclass(frozen=True)
class Spectral(Attack):
    """Projection on the top singular vector: squared, signed, and as two clusters."""

    sees: ClassVar[set[str]] = {"gradients", "embeddings"}
    classes: ClassVar[set[int]] = {2}
    cheap: ClassVar[bool] = True

    source: Literal["gradients", "embeddings"] = "gradients"

    def infer(self, view: View) -> dict[str, np.ndarray]:
        """Scores (B,) of the examples, of each kind."""
        signed = score(view.gradients if self.source == "gradients" else view.embeddings)
        return {"": signed**2, "signed": signed, "clusters": two_means(signed)}
