"""Records of a training with an untrusted server: the features that the adversary saw, and the true attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import torch

from cutlayer.core.seeds import seed_of
from cutlayer.games.base.defense import described
from cutlayer.games.base.encoded import Encoded
from cutlayer.games.base.protocol import Task
from cutlayer.games.base.snapshot import architecture, flattened

from .data import ServerData
from .defense import Defense
from .pairs import log_ratio

AT_ONCE = 4096  # rows
NOISY = {  # a setup's `noisy_views` -> the features that reach the adversary with noise
    "none": set[str](),
    "training": {"intercepted", "poison"},
    "all": {"intercepted", "poison", "known", "attacked"},
}


class ServerRecords:
    """The features that the adversary sees, after every epoch and at the end."""

    def __init__(self, task: Task, setting: str, data: ServerData, defense: Defense, deviation: float) -> None:
        """`deviation` is the standard deviation of the defense's own noise; 0: it has none."""
        self._name, self._data, self._defense = (task.name, setting), data, defense
        self._sigma = deviation or float(task.settings["sigma"])
        self._noisy = NOISY["all" if deviation else task.settings.get("noisy_views", "none")]
        self._queries = task.settings["records"].get("queries", 1)
        clean = data.train[: len(data.train) - len(data.poison)]
        self._intercepted = clean[: task.settings["records"]["attacked"]]
        self._epochs: list[dict[str, np.ndarray]] = []
        self._model = task.settings["model"]
        self._audits = bool(deviation) and defense.about == "row" and len(data.pairs) > 0
        self.ratio = np.zeros(len(data.pairs) if self._audits else 0)  # an auditor's
        self.seen: dict[str, np.ndarray] = {}

    @property
    def shared(self) -> dict[str, np.ndarray]:
        """What the adversary knows under every defense: its own rows, their attribute, the architectures."""
        data = self._data
        poison = {"poison_attribute": data.all_attribute[data.poison]} if len(data.poison) else {}
        return poison | {
            "inputs": data.features[data.known],
            "known_attribute": data.all_attribute[data.known],
            "values": np.array(data.values),
            "architecture": architecture(self._model, data.inputs),
        }

    @property
    def truth(self) -> dict[str, np.ndarray]:
        """The true attribute of the rows that are attacked at either stage."""
        attribute, coins = self._data.all_attribute, self._data.pairs.coins
        found = {"attribute": attribute[self._data.test], "training_attribute": attribute[self._intercepted]}
        return found | ({"coins": coins.astype(np.int8)} if len(coins) else {})

    def intercept(self, encoder: torch.nn.Module, epoch: int) -> None:
        """Record features of the attacked and the adversary's training rows after an epoch, and the encoder."""
        places, poison = np.arange(len(self._data.train)), len(self._data.poison)
        intercepted = self._sent(encoder, self._trained(places[: len(self._intercepted)]), "intercepted", epoch)
        if poison:
            intercepted |= self._sent(encoder, self._trained(places[-poison:]), "poison", epoch)
        if self._audits:
            both = [self._clean(encoder, [self._data.encode_table(one)]) for one in self._data.pairs.rows.T]
            self.ratio += log_ratio(intercepted["intercepted"][: len(self.ratio)], both, self._sigma)
        self._epochs.append(intercepted | {"encoder": flattened(encoder)})

    def finish(self, encoder: torch.nn.Module, classifier: torch.nn.Module) -> np.ndarray:
        """Stack the records into arrays; return the classifier's probabilities (m, classes) of the test rows."""
        self.seen = {name: np.stack([epoch[name] for epoch in self._epochs]) for name in self._epochs[0]}
        for what, rows in (("attacked", self._data.test), ("known", self._data.known)):
            encoded = map(self._data.encode_table, _pieces(rows))
            self.seen |= self._sent(encoder, encoded, what, -1, self._queries)
        self.seen |= {
            "noise": np.array(self._sigma if "intercepted" in self._noisy else 0.0),
            "defense": described(self._defense),
        }
        return _probabilities(classifier, self.seen["attacked"], self._data.device)

    def _trained(self, places: np.ndarray) -> Iterator[Encoded]:
        """Encoded training rows."""
        return (self._data.encode(torch.from_numpy(some)) for some in _pieces(places))

    def _sent(
        self, encoder: torch.nn.Module, encoded: Iterable[Encoded], what: str, epoch: int, times: int = 1
    ) -> dict[str, np.ndarray]:
        """Features (n, ...) float32 of some rows by the encoder in evaluation mode; noisy if the adversary sees noise.

        Of several noisy releases there is also the mean, a sufficient statistic of all of them.
        """
        clean = torch.from_numpy(self._clean(encoder, encoded))
        if what not in self._noisy:
            return {what: clean.numpy()}
        draw = torch.Generator().manual_seed(seed_of(*self._name, "sent", what, epoch))
        noise = [self._sigma * torch.randn(clean.shape, generator=draw) for _ in range(times)]
        found = {what: (clean + noise[0]).numpy()}
        return found | ({f"{what}_mean": (clean + torch.stack(noise).mean(dim=0)).numpy()} if times > 1 else {})

    def _clean(self, encoder: torch.nn.Module, encoded: Iterable[Encoded]) -> np.ndarray:
        """Released features (n, ...) float32 of some rows, without noise."""
        encoder.eval()
        with torch.no_grad():
            parts = [self._defense.release(encoder(some)[1]).cpu() for some in encoded]
        encoder.train()
        return torch.cat(parts).numpy()


def _probabilities(classifier: torch.nn.Module, features: np.ndarray, device: str) -> np.ndarray:
    """Predicted probabilities (n, classes) float64."""
    with torch.no_grad():
        pieces = [features[some] for some in _pieces(np.arange(len(features)))]
        parts = [classifier(torch.from_numpy(piece).to(device), {}) for piece in pieces]
    return torch.cat(parts).double().softmax(dim=1).cpu().numpy()


def _pieces(rows: np.ndarray) -> list[np.ndarray]:
    return np.array_split(rows, max(1, -(-len(rows) // AT_ONCE)))
