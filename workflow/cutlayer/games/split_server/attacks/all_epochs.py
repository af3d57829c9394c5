"""all_epochs: p(s | z_1 .. z_E), from what is sent for the same row in every epoch of the training.

Why: the paper's training-stage attacks start anew each epoch, and its bound L_p is on what one sending tells. The same
row is sent once an epoch. What its sendings have in common adds up, in one of two ways:

- with noise on what the adversary sees (`noisy_views`, or a defense's own), noise is drawn anew, and E sendings leave
  about 1 / sqrt(E) of it;
- without, as the paper writes its attacks (f(x) itself), nothing is averaged. But the encoders differ from epoch to
  epoch: z_1 .. z_E are several functions of x, each of which may tell what another keeps back, and the first epochs'
  encoders have seen the least of the defense.

The adversary knows its poison rows' features w_ej in every epoch. `kernel` is the likelihood of Gaussian noise,

    p(s | z_1 .. z_E) ~ sum over known rows j of value s of exp(-sum_e |z_e - w_ej|^2 / (2 c sigma^2 T)),

c = 2 where z and w have noise, as here, and 1 where w has none. Only c sigma^2 T matters; it is chosen by leave-one-out
likelihood of the known rows, so that sigma need not be known, and T > 1 makes up for few rows. Without noise each
epoch is first divided by its features' root mean variance. `logistic` is a regression on the features of all epochs
side by side; with one epoch it is `logistic_poison`. `discriminant` is linear, too, with a covariance that is shrunk,
as there are more features than known rows. The kernel is the better one against noise, whose distribution it knows;
without noise the linear ones are, which find the directions that matter.

With `client` the adversary also holds the encoder of every epoch, as each client of the training does, and may be one:
poison rows come from somewhere. It then takes its auxiliary rows, `most` of them, for known ones and sends them through
each encoder, without noise (c = 1); noise is drawn for those that are left out, or learned from. That is more than the
paper's adversary has, whose shadow encoder (`dsa`) is made for the lack of it.

Tried, and not better than the best of the three on Adult: ridge regression with leave-one-out penalty, stronger
penalties, regression on several draws of the noise; for the kernel the exact T = 1, and what a model of the inputs
predicts of a known row in place of what is known.

Ours, against Yu et al., "Privacy-Preserving Split Learning via Pareto Optimal Search".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.attributes.kernel import posterior
from cutlayer.games.attributes.linear import discriminant, regression
from cutlayer.games.split_server.attack import Attack

from ._encoders import encoded

WIDE = 4096


@dataclass(frozen=True)
class AllEpochs(Attack):
    """One guess for each row from all epochs."""

    target: ClassVar[str] = "training_attribute"
    sees: ClassVar[set[str]] = {
        "intercepted", "noise", "poison", "poison_attribute", "values",
        "encoder", "architecture", "defense", "inputs", "known_attribute",
    }  # fmt: skip
    needs: ClassVar[set[str]] = {"poison"}
    limits: ClassVar[Limits] = {"most": (1, None)}
    cheap: ClassVar[bool] = True

    form: Literal["kernel", "logistic", "discriminant"] = "kernel"
    client: bool = False
    most: int = 2000  # rows that a client sends through the encoders

    def skip(self, view: View) -> str:
        """A covariance of so many features has to fit into memory."""
        features = view.intercepted[:, 0].size
        if self.form != "discriminant" or features <= WIDE:
            return ""
        return f"for at most {WIDE} features of a row in all epochs, here there are {features}"

    def infer(self, view: View) -> np.ndarray:
        """(m, values) float64 probabilities of the intercepted rows' values."""
        values, epochs, noise = int(view.values), len(view.intercepted), float(view.noise)
        known, attribute = view.poison, view.poison_attribute
        heard = known
        if self.client:
            known, attribute = encoded(view, self.most), view.known_attribute[: self.most]
            heard = known + noise * view.rng.standard_normal(known.shape)
        units = np.ones(epochs) if noise else scales(known)
        known, asked, heard = (side_by_side(part, units) for part in (known, view.intercepted, heard))
        if self.form == "kernel":
            return posterior(known, attribute, values, asked, heard)
        return (regression if self.form == "logistic" else discriminant)(heard, attribute, values)(asked)


def side_by_side(features: np.ndarray, units: np.ndarray) -> np.ndarray:
    """(n, E k): features (E, n, ...) of all epochs of a row as one, each epoch's divided by its unit (E,)."""
    rows = np.moveaxis(features, 0, -1) / units
    return rows.reshape(features.shape[1], -1).astype(np.float64)


def scales(features: np.ndarray) -> np.ndarray:
    """(E,): the root mean variance of each epoch's features (E, n, ...), 1 where all are alike."""
    found = np.sqrt(features.astype(np.float64).var(axis=1).reshape(len(features), -1).mean(axis=1))
    return np.where(found > 0, found, 1.0)
