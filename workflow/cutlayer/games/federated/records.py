"""Records of a federated training: final representations, true attributes, and utility for the task."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cutlayer.core.errors import InputError
from cutlayer.core.seeds import generator, seed_of
from cutlayer.games.base.protocol import Task
from cutlayer.games.base.snapshot import architecture
from cutlayer.games.federated.defense import Defense

from .data import FederatedData, first
from .local import Kept, Stacked, load

AT_ONCE = 1024  # rows
HEAD = (64,)  # hidden units of the task's classifier


class FederatedRecords:
    """Representations of the adversary's and the attacked rows, and their utility for the task."""

    def __init__(self, task: Task, data: FederatedData) -> None:
        self._task, self._data = task, data
        drawn = generator(task.origin, task.seed, "known").permutation(data.train)
        self._known = drawn[: task.settings.get("known", {}).get("rows")]
        self._attacked = data.test[: task.settings["records"].get("attacked")]

    @property
    def shared(self) -> dict[str, np.ndarray]:
        """What the adversary knows under every defense: its own rows, their attribute, the architectures."""
        data = self._data
        return {
            "inputs": data.features[self._known],
            "known_attribute": data.all_attribute[self._known],
            "values": np.array(data.values),
            "architecture": architecture(self._task.settings["model"], data.inputs),
        }

    @property
    def truth(self) -> dict[str, np.ndarray]:
        """Attribute, label and inputs of the attacked rows, and the known rows' labels."""
        data = self._data
        return {
            "attribute": data.all_attribute[self._attacked],
            "labels": data.all_labels[self._attacked],
            "attacked_inputs": data.features[self._attacked],
            "known_labels": data.all_labels[self._known],
        }

    def finish(
        self, setting: str, defense: Defense, extractor: torch.Tensor, kept: Kept
    ) -> tuple[dict[str, np.ndarray], list[dict[str, Any]]]:
        """The transcript's arrays and utility metrics of a final extractor (P,) and the devices' networks."""
        network = self._network(extractor)
        known, attacked, train, test = (
            self._represented(network, rows)
            for rows in (self._known, self._attacked, self._data.train, self._data.test)
        )
        seen = {"known": known, "attacked": attacked}
        if "privacy" in defense.roles:
            seen["inner"] = np.stack([kept["privacy"][device].cpu().numpy() for device in sorted(kept["privacy"])])
        rows = [
            *self._task_rows(setting, train, test),
            {"metric": "task_specific", "value": float("task" in defense.roles)},
        ]
        return seen, rows + list(self._on_a_device(setting, defense, extractor, kept))

    def _network(self, extractor: torch.Tensor) -> torch.nn.Module:
        network = first(self._task, self._data, "extractor")
        torch.nn.utils.vector_to_parameters(extractor, network.parameters())
        return network.eval()

    def _represented(self, network: torch.nn.Module, rows: np.ndarray) -> np.ndarray:
        """Representations (n, ...) float32 of some rows."""
        pieces = np.array_split(rows, max(1, -(-len(rows) // AT_ONCE)))
        with torch.no_grad():
            found = torch.cat([network(self._data.encoded(piece)).cpu() for piece in pieces])
        if not bool(found.isfinite().all()):
            wrong = "training diverged: representations are not finite"
            raise InputError(f"run.{self._task.name}", wrong, "lower the rate or the strength")
        return found.numpy()

    def _task_rows(self, setting: str, train: np.ndarray, test: np.ndarray) -> Iterator[dict[str, Any]]:
        """Test accuracy of a classifier for the task on the training rows' representations.

        It is one on all training rows, or the mean over one for each device."""
        data, settings = self._data, self._task.settings
        together = settings.get("head_rows", "all") == "all"
        labels, of_training = data.all_labels[data.test], data.all_labels[data.train]
        scores = []
        for rows in [slice(None)] if together else map(data.places, range(len(data.sizes))):
            head = MLPClassifier(
                HEAD, early_stopping=together,  # a device has too few rows to hold some back
                max_iter=settings.get("head_epochs", 200),
                random_state=seed_of(self._task.name, setting, "head") % 2**32,
            )  # fmt: skip
            own = train[rows]
            with warnings.catch_warnings():  # the number of epochs is a setting
                warnings.simplefilter("ignore", ConvergenceWarning)
                fitted = make_pipeline(StandardScaler(), head).fit(own.reshape(len(own), -1), of_training[rows])
            scores.append(fitted.score(test.reshape(len(test), -1), labels))
        yield {"metric": "test_accuracy", "value": float(np.mean(scores))}
        yield {"metric": "task_majority", "value": float(np.bincount(labels).max() / len(labels))}
        yield {"metric": "rows", "value": float(len(labels))}

    def _on_a_device(
        self, setting: str, defense: Defense, extractor: torch.Tensor, kept: Kept
    ) -> Iterator[dict[str, Any]]:
        """Losses of one random device's own networks on its rows, with the final extractor."""
        roles = [role for role in ("privacy", "utility") if role in defense.roles]
        trained = sorted(set.intersection(*(set(kept[role]) for role in roles))) if roles else []
        if not trained:
            return
        device = int(generator(self._task.origin, self._task.seed, "device").choice(trained))
        networks = {role: first(self._task, self._data, role) for role in ("extractor", *roles)}
        local, batch = Stacked(networks, 1, self._data), self._data.batch([self._data.places(device)])
        with torch.no_grad():
            local.extractor.load(extractor)
            features = local.extractor(batch.x)
            for role, metric in (("privacy", "device_ce"), ("utility", "device_jsd")):
                if role in roles:
                    load(local.others[role], kept[role][device].unsqueeze(0))
                    yield {"metric": metric, "value": float(local.losses(role, batch, features))}
