"""tcpo_composed: corrected variant of tcpo, whose noise accounts for all releases of a row, on all released features.

L_p is the leakage of one release with noise of the setup's sigma, and tcpo keeps it below a threshold. But a row has a
release in each of E epochs: the mean of E releases by one encoder has noise of sigma / sqrt(E) only, for which L_p is
larger. Here each release has noise of sigma sqrt(S), where S is the number of releases of a row (E in training, or
`queries` later, whichever is more), so that for a fixed encoder all releases of a row together leak what one with noise
sigma would. That is what L_p measures, and tcpo's bound for one release. Where the encoder changes between releases
this is no theorem: several functions of a row may leak more than one of them.

The paper's attacks observe f(x) without noise (see the readings of tcpo), against which an L_p that relies on noise
guarantees nothing; here all released features have noise, in training and later. Only L_p, on the axes and for the
moments that it estimates, keeps an encoder from releasing larger features through more noise. The fix costs utility,
to be compared with `gaussian_features`. L_p itself, its threshold and the search are those of tcpo.

Ours, after Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from cutlayer.games.split_server.defense import ClientsContext

from .tcpo import Tcpo


@dataclass(frozen=True)
class TcpoComposed(Tcpo):
    """Trajectory-controlled Pareto optimal search, with noise that does not degrade under composition."""

    def deviation(self, clients: ClientsContext) -> float:
        """The setup's standard deviation, times the square root of the number of releases."""
        return clients.sigma * math.sqrt(clients.num_releases)
