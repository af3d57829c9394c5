"""Bound on attacks from the privacy loss L_p of the tcpo paper, for features as it models them.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", equation (3).
"""

from __future__ import annotations

import numpy as np

from cutlayer.theory import marvell


def auc_bound(leakage: float, shares: np.ndarray) -> float:
    """Upper bound on the mean one-vs-rest AUC from L_p, of an attribute whose values have these shares (values,).

    L_p is the sum over pairs of p_a p_b (KL_ab + KL_ba). By convexity value a and the mixture of all others have a
    symmetric divergence of at most sum_b p_b (KL_ab + KL_ba) / (1 - p_a), so of at most L_p / (p_a (1 - p_a)); that
    bounds the AUC as marvell's sumKL does. It needs the divergences of the actual features: L_p's are of Gaussians.
    """
    present = shares[(shares > 0) & (shares < 1)]
    return float(np.mean([marvell.auc_bound(leakage / (p * (1 - p))) for p in present])) if len(present) else 0.5
