"""all_epochs: infers the attribute from the features of a row in all epochs together, p(s | z_1 .. z_E).

Why: the paper's training-stage attacks restart in each epoch, and its bound L_p is on the leakage of one release. A row
has one release per epoch, and its releases compose, in one of two ways:

- with noise on what the adversary sees (`noisy_views`, or a defense's own), the noise is fresh in each release, so that
  E releases average it down to about 1 / sqrt(E);
- without, as the paper defines its attacks (f(x) itself), nothing is averaged. But the encoders differ from epoch to
  epoch: z_1 .. z_E are several functions of x, each of which may reveal what another hides, and the first epochs'
  encoders are the least trained by the defense.

The adversary knows its poison rows' features w_ej in every epoch. `kernel` is the likelihood of Gaussian noise,

    p(s | z_1 .. z_E) ~ sum over known rows j of value s of exp(-sum_e |z_e - w_ej|^2 / (2 c sigma^2 T)),

c = 2 where z and w have noise, as here, and 1 where w has none. Only c sigma^2 T matters; it is chosen by leave-one-out
likelihood of the known rows, so that sigma need not be known, and T > 1 compensates for few rows. Without noise each
epoch is first divided by its features' root mean variance. `logistic` is a regression on the concatenated features of
all epochs; with one epoch it is `logistic_poison`. `discriminant` is linear discriminant analysis with a shrunk
covariance, as there are more features than known rows. The kernel is better against noise, whose distribution it
knows; the linear ones are better without noise, as they learn which directions matter.

With `client` the adversary also holds the encoder of every epoch, as each client of the training does: it may be the
one that inserts poison rows. It then uses `most` of its auxiliary rows as known ones and encodes them by each encoder,
without noise (c = 1); noise is drawn for the rows of leave-one-out and for those that are learned from. That is a
stronger adversary than the paper's, whose shadow encoder (`dsa`) replaces the encoders that it lacks.

Tried, and not better than the best of the three on Adult: ridge regression with leave-one-out penalty, stronger
penalties, regression on several draws of the noise; for the kernel the exact T = 1, and a known row's attribute as
predicted by a model of the inputs in place of the known one.

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
    """Attribute inference from a row's features of all epochs, by kernel density, regression or discriminant."""

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
    most: int = 2000  # rows that an adversarial client encodes

    def skip(self, view: View) -> str:
        """`discriminant` needs a covariance of all features that fits into memory."""
        features = view.intercepted[:, 0].size
        if self.form != "discriminant" or features <= WIDE:
            return ""
        return f"for at most {WIDE} features of a row in all epochs, here there are {features}"

    def infer(self, view: View) -> np.ndarray:
        """Probabilities (m, values) float64 of the attribute of intercepted rows."""
        values, epochs, noise = int(view.values), len(view.intercepted), float(view.noise)
        known, attribute = view.poison, view.poison_attribute
        training = known
        if self.client:
            known, attribute = encoded(view, self.most), view.known_attribute[: self.most]
            training = known + noise * view.rng.standard_normal(known.shape)
        units = np.ones(epochs) if noise else scales(known)
        known, attacked, training = (side_by_side(part, units) for part in (known, view.intercepted, training))
        if self.form == "kernel":
            return posterior(known, attribute, values, attacked, training)
        return (regression if self.form == "logistic" else discriminant)(training, attribute, values)(attacked)


def side_by_side(features: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Concatenated features (n, E k) of all epochs, from (E, n, ...), each epoch's divided by its unit (E,)."""
    rows = np.moveaxis(features, 0, -1) / units
    return rows.reshape(features.shape[1], -1).astype(np.float64)


def scales(features: np.ndarray) -> np.ndarray:
    """The root mean variance (E,) of each epoch's features (E, n, ...), 1 where they are constant."""
    found = np.sqrt(features.astype(np.float64).var(axis=1).reshape(len(features), -1).mean(axis=1))
    return np.where(found > 0, found, 1.0)
