"""What the privacy loss of the tcpo paper says of an attack, if features are as it models them.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (3).
"""

from __future__ import annotations

import numpy as np

from cutlayer.theory import marvell


def auc_bound(leakage: float, shares: np.ndarray) -> float:
    """The largest AUC that L_p allows, of an attribute whose values have these shares (values,): the mean over values.

    L_p is the sum over pairs of p_a p_b (KL_ab + KL_ba). By convexity value a and the mixture of all others are at most
    a symmetric divergence of sum_b p_b (KL_ab + KL_ba) / (1 - p_a) apart, so at most L_p / (p_a (1 - p_a)); that bounds
    the AUC as marvell's sumKL does. The divergences must be those of what is sent: L_p's are of Gaussians in its place.
    """
    present = shares[(shares > 0) & (shares < 1)]
    return float(np.mean([marvell.auc_bound(leakage / (p * (1 - p))) for p in present])) if len(present) else 0.5
