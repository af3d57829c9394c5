"""tcpo_composed: tcpo with noise for all sendings of a row, on all that leaves the clients.

L_p is the leakage of one sending with noise of the setup's sigma, and tcpo holds it below a threshold. But a row is
sent in each of E epochs: the mean of E sendings by one encoder has noise of sigma / sqrt(E) only, in which L_p is
larger. Here each sending has noise of sigma sqrt(S), S being how often a row is sent (E in training, or `queries`
later, whichever is more), so that all sendings of a row together tell, of an encoder that stays as it is, what one with
noise sigma would. That is what L_p is of, and tcpo's promise for one sending. Where the encoder moves between sendings
this is no theorem: several functions of a row may say more than one of them.

The paper's attacks meet f(x) without noise (see the readings of tcpo), against which no L_p that counts on noise
promises anything; here the noise is on everything that is sent, in training and later. Nothing keeps an encoder from
sending larger features through more noise but L_p, on the axes and for the moments that it sees. The mend costs
utility, which is to be seen beside `gaussian_features`. L_p itself, its threshold and the search are those of tcpo.

Ours, after Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search".
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from cutlayer.games.split_server.defense import ClientsContext

from .tcpo import Tcpo


@dataclass(frozen=True)
class TcpoComposed(Tcpo):
    """Trajectory-controlled Pareto optimal search, with noise that composition does not wear off."""

    def deviation(self, clients: ClientsContext) -> float:
        """The setup's, times the root of the number of sendings."""
        return clients.sigma * math.sqrt(clients.num_releases)
