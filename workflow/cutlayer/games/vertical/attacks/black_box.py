"""black_box: reconstructs a single feature without knowing its weight or the bias.

The adversary computes v = w X + b for each prediction. `zero_bias` (b = 0): v over the v of largest magnitude.
`same_sign` (w b > 0): the largest magnitude is mapped to 1, the smallest to 0, affine in between.
`opposite_sign` (w b < 0): if all v have one sign, it is that of b, so the largest magnitude is mapped to 0
and the smallest to 1; if signs are mixed nothing beats 1/2 in the worst case.

Rassouli, Varasteh, Gündüz, "Privacy Against Inference Attacks in Vertical Federated Learning", VI.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.transcript import View
from cutlayer.games.vertical.attack import Attack
from cutlayer.games.vertical.equations import difference_matrix, log_ratios

SAME = 1e-9  # relative difference of observations that is rounding, as they are computed from scores


@dataclass(frozen=True)
class BlackBox(Attack):
    """Black-box reconstruction of one feature, by an adversary who knows only the sign of w b."""

    sees: ClassVar[set[str]] = {"scores", "active_features", "active_weights", "passive"}
    needs: ClassVar[set[str]] = {"passive"}

    case: Literal["zero_bias", "same_sign", "opposite_sign"] = "same_sign"

    def skip(self, view: View) -> str:
        """Needs one passive feature and two classes, so that v is a number."""
        k, d = view.scores.shape[1], len(view.passive)
        return "" if (k, d) == (2, 1) else f"for one feature and two classes, here {d} and {k}"

    def infer(self, view: View) -> np.ndarray:
        """Estimates (N x 1) of the passive feature."""
        own = view.active_features @ view.active_weights.T @ difference_matrix(2).T
        return reconstruct((log_ratios(view.scores) - own)[:, 0], self.case)[:, None]


def reconstruct(v: np.ndarray, case: str) -> np.ndarray:
    """Estimates (N,) of X in [0, 1] from v = w X + b (N,), equation 64 and section VI-B, VI-C."""
    size = np.abs(v)
    if case == "zero_bias":
        return v / v[size.argmax()] if size.max() > 0 else np.zeros_like(v)
    if case == "opposite_sign" and v.min() < 0 < v.max():
        return np.full_like(v, 0.5)
    low, high = size.min(), size.max()
    # With one distinct value, v_m = v_M and the paper sets X^ = X^_m = 0.
    share = (size - low) / (high - low) if high - low > SAME * high else np.zeros_like(v)
    return share if case == "same_sign" else 1 - share
