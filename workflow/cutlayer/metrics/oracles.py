"""Oracles: the utility of a guess that the truth helps, in the ways of published code.

None is a leak: beside the utility that an adversary gets, each shows what its oracle is worth. An attack's best epoch
is `attack_utility_oracle`, the better of two runs `attack_utility_better`, see `games/split/leak.py`.
"""

from __future__ import annotations

import numpy as np

from .leakage import tied_auc


def of_a_guess(guess: np.ndarray, labels: np.ndarray, used: np.ndarray) -> dict[str, float]:
    """Utilities with oracles of scores (W,), or of class probabilities (W, k), and labels (W,): AUC, or accuracy.

    `used` (W,) marks rows whose labels the adversary knows and has not guessed.

    - attack_utility_known: these rows count, as guessed right (SecretFlow's similarity attack)
    - attack_utility_named: a cluster, the rows of one guessed class, gets the class of most of its rows (SecretFlow's
      gradient clustering); of two classes the side that has the larger AUC

    There is none if a class of two is missing.
    """
    if guess.ndim == 2:
        classes = guess[~used].argmax(axis=1)
        right = (classes == labels[~used]).sum() + used.sum()
        most = sum(np.bincount(labels[~used][classes == one]).max() for one in np.unique(classes))
        return {"attack_utility_known": float(right / len(labels)), "attack_utility_named": float(most / len(classes))}
    known = tied_auc(np.where(used, np.where(labels == 1, np.inf, -np.inf), guess), labels)
    own = tied_auc(guess[~used], labels[~used])
    if known is None or own is None:
        return {}
    return {"attack_utility_known": known, "attack_utility_named": max(own, 1 - own)}
