"""model_completion: adds a random head to the trained bottom model and trains it, or both, on a few labeled examples.

The feature party knows the labels of a few of its training rows. MixMatch uses the others too: each step guesses the
labels of an unlabeled batch by the model's own sharpened predictions, mixes these and a labeled batch pairwise
(mixup), and takes an Adam step on the cross-entropy of the labeled and the squared error of the unlabeled half, the
weight of which grows linearly over the training. An exponential moving average of the models of all steps predicts.

In the official code (github.com/FuChong-cyber/label-inference-attacks) the head is batch normalization, a ReLU and a
linear layer (`normalization: batch`). It freezes the bottom of Criteo alone, but builds its optimizer before the
trained bottom is in the model, so that it changes none (`fine_tunes: false`); the paper says that the bottom is
fine-tuned. By default embeddings are standardized once, before the fine-tuning, and every bottom is fine-tuned. Chosen
here: the head's weights are drawn (there all are 1), labeled and unlabeled examples are one batch (there both halves
are spread over two), examples with categorical codes are mixed at the cut, the average's decay is warmed up, no weight
decay. As there, nothing is augmented (one prediction an example). The published number is that of the best epoch by the
true labels, an oracle; the last epoch is what an adversary has.

With `bottom: scratch` the same network with fresh weights takes the place of the trained one: what its completion
infers too comes from features and known labels, not from the training.

Fu et al., "Label Inference Attacks Against Vertical Federated Learning"; Berthelot et al., "MixMatch: A Holistic
Approach to Semi-Supervised Learning"; as used in Jiang et al., "Training on Fake Labels".
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import nn
from torch.nn.functional import one_hot

from cutlayer.core.descent import descend
from cutlayer.core.devices import seeded
from cutlayer.core.errors import InputError
from cutlayer.core.limits import Limits
from cutlayer.core.transcript import View
from cutlayer.games.base.attack import Guess
from cutlayer.games.base.encoded import Encoded, take
from cutlayer.games.base.snapshot import rebuilt
from cutlayer.games.split.attack import Attack

from ._completion import Completed, batches, mixmatch, probabilities, update_average


@dataclass(frozen=True)
class ModelCompletion(Attack):
    """Model completion with MixMatch for `epochs` of `steps` steps; the official code's defaults but for Criteo."""

    target: ClassVar[str] = "population"
    sees: ClassVar[set[str]] = {
        "bottom", "architecture", "features", "known", "known_labels", "attacked", "classes",
    }  # fmt: skip
    needs: ClassVar[set[str]] = {"known"}
    limits: ClassVar[Limits] = {
        "epochs": (1, None), "steps": (1, None), "batch": (1, None), "rate": (0, None), "layers": (1, None),
        "temperature": (0.01, 1), "alpha": (0.01, None), "unlabeled_weight": (0, None), "ema": (0, 1),
    }  # fmt: skip

    epochs: int = 10
    steps: int = 1024  # an epoch
    batch: int = 16  # labeled examples, and as many unlabeled
    rate: float = 0.002
    layers: int = 1  # of the head
    temperature: float = 0.8  # of the sharpening
    alpha: float = 0.75  # of mixup's Beta distribution
    unlabeled_weight: float = 50.0  # at the end
    ema: float = 0.999  # the average's decay
    normalization: Literal["fixed", "batch"] = "fixed"  # of embeddings
    fine_tunes: bool = True  # the bottom, too
    bottom: Literal["trained", "scratch"] = "trained"
    twice: bool = False  # whether there is a second run, `again`, of other draws

    def __post_init__(self) -> None:
        if self.batch == 1 and self.normalization == "batch":
            wrong = f"batch = {self.batch}, of which batch normalization has no variance"
            raise InputError("attack.model_completion", wrong, "expected at least 2 with normalization = 'batch'")

    def skip(self, view: View) -> str:
        """Needs rows with known labels and rows without, of which batch normalization needs two."""
        if "features" not in view:
            return "for feature parties that know some labels, here it knows none"
        own, known = len(_own(view)), len(view.known)
        some = 2 if self.normalization == "batch" else 1
        enough = 0 < known <= own - some
        return "" if enough else f"for some known labels and {some} or more unknown, here {known} of {own} are known"

    def infer(self, view: View) -> Guess:
        """Class probabilities (epochs, m, k) float64 of the attacked rows after each epoch."""
        found = self._run(view)
        return {"": found, "again": self._run(view)} if self.twice else found

    def _run(self, view: View) -> np.ndarray:
        model, inputs, bottom = rebuilt(view.architecture, view.bottom)
        if self.bottom == "scratch":
            with seeded(int(view.rng.integers(2**63))):
                bottom = model.bottom(inputs).eval()
        features = {name: t.to(view.device) for name, t in model.encode(view.features, inputs).items()}
        classes = int(view.classes)
        batch = self.normalization == "batch"
        completed = Completed(bottom.to(view.device), features, _own(view), classes, self.layers, batch, view.rng)
        bottom.requires_grad_(self.fine_tunes)
        epochs = self._fine_tuned(completed, features, view)
        return np.stack([probabilities(average, features, np.array(view.attacked)) for average in epochs])

    def _fine_tuned(self, model: Completed, features: Encoded, view: View) -> Iterator[nn.Module]:
        """The exponential moving average of the model after each epoch.

        Its decay grows to `ema`: a constant 0.999 would keep a few hundred steps' average near the random head.
        """
        known, total = np.array(view.known), self.epochs * self.steps
        targets = one_hot(torch.from_numpy(np.array(view.known_labels)), int(view.classes)).float().to(view.device)
        labeled = batches(np.arange(len(known)), self.batch, view.rng)
        unlabeled = batches(np.setdiff1d(_own(view), known), self.batch, view.rng)
        trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
        average, optimizer = copy.deepcopy(model).eval(), torch.optim.Adam(trained, self.rate, fused=True)
        for step in range(1, total + 1):
            given = next(labeled)
            x = take(features, np.concatenate([known[given], next(unlabeled)]))
            weight = self.unlabeled_weight * step / total
            descend(optimizer, mixmatch(model, x, targets[given], weight, self.temperature, self.alpha, view.rng))
            update_average(average, model, min(self.ema, (1 + step) / (10 + step)))
            if step % self.steps == 0:
                yield average


def _own(view: View) -> np.ndarray:
    """Positions of the feature party's own training rows."""
    return np.setdiff1d(np.arange(len(view.features)), view.attacked)
