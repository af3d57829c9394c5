"""What a method does to what it is given reaches neither the truth, nor what is recorded, nor another training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from tests.conftest import SETUPS, SPLIT_SETUPS, clicks
from tests.games import test_federated as federated_runs
from tests.games import test_split_server as server_runs

from cutlayer.core.errors import InputError
from cutlayer.core.transcript import View
from cutlayer.games.base.protocol import Outcome, Task
from cutlayer.games.federated import defense as federated
from cutlayer.games.split import defense as split
from cutlayer.games.split_server import defense as split_server
from cutlayer.games.vertical import defense as vertical
from cutlayer.plan import plugins

SPLIT = SPLIT_SETUPS["clicks"] | {"epochs": 2, "records": {"batches": 4}}
TABLES: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "vertical": (lambda: plugins.create("dataset", "wine").load({}), SETUPS["three_classes"]),
    "split": (clicks, SPLIT),
    "split_server": (server_runs.table, server_runs.SETTINGS),
    "federated": (federated_runs.table, federated_runs.SETTINGS),
}


def trained(game: str, **defenses: Any) -> Outcome:
    """A run of some settings, one after the other."""
    make, settings = TABLES[game]
    return plugins.create("protocol", game).outcome(Task("made", "mine", 0, make(), settings, defenses))


def none(game: str) -> Any:
    return plugins.create("defense", "none", {}, game)


def same(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        if name != "defense":  # its description
            np.testing.assert_array_equal(found[name], array, name)


def turned(labels: torch.Tensor) -> torch.Tensor:
    """Which of them are turned."""
    return torch.rand(len(labels), generator=torch.Generator().manual_seed(3)) < 0.4


@dataclass(frozen=True)
class TurnsInPlace(split.Defense):
    def begin(self, training: split.Training) -> None:
        training.labels[turned(training.labels)] = 1 - training.labels[turned(training.labels)]


@dataclass(frozen=True)
class TurnsACopy(split.Defense):
    def begin(self, training: split.Training) -> torch.Tensor:
        labels = training.labels.clone()
        labels[turned(labels)] = 1 - labels[turned(labels)]
        return labels

    def soft_labels(self, context: split.Context) -> torch.Tensor:
        return torch.nn.functional.one_hot(context.state[context.rows], 2).float()


@dataclass(frozen=True)
class Scribbles(split.Defense):
    """Writes to all that a context has, once it has served."""

    def backward(self, gradient: torch.Tensor, context: split.Context) -> torch.Tensor:
        sent = gradient.clone()
        context.rows.zero_()
        context.training.labels.numpy()[:] = 1  # torch does not see this
        return sent


def test_labels_that_are_turned_in_place_are_turned_for_the_training_alone() -> None:
    found = trained("split", a=TurnsInPlace(), b=none("split"))
    copied, alone = trained("split", a=TurnsACopy()), trained("split", b=none("split"))
    same(found.transcripts["a"], copied.transcripts["a"])
    same(found.transcripts["b"], alone.transcripts["b"])
    for name in ("labels", "watched_labels", "attacked_labels"):
        np.testing.assert_array_equal(found.truth[name], alone.truth[name])


def test_what_is_written_to_a_context_is_recorded_nowhere() -> None:
    found, alone = trained("split", a=Scribbles(), b=none("split")), trained("split", b=none("split"))
    for name in ("labels", "watched_labels"):
        np.testing.assert_array_equal(found.truth[name], alone.truth[name])
    for name in ("steps", "days", "hints", "watched_steps"):
        np.testing.assert_array_equal(found.transcripts["a"][name], alone.transcripts["b"][name])
    same(found.transcripts["b"], alone.transcripts["b"])


@pytest.mark.parametrize("game", ["split", "vertical"])
def test_what_is_returned_again_and_again_is_recorded_as_it_was_each_time(game: str) -> None:
    kept: dict[tuple[int, ...], Any] = {}

    def again(made: Any) -> Any:
        buffer = kept.setdefault(tuple(made.shape), made)
        buffer[...] = made
        return buffer

    @dataclass(frozen=True)
    class Gradients(split.Defense):
        def backward(self, gradient: torch.Tensor, context: split.Context) -> torch.Tensor:
            return again(2 * gradient)

    @dataclass(frozen=True)
    class FreshGradients(split.Defense):
        def backward(self, gradient: torch.Tensor, context: split.Context) -> torch.Tensor:
            return 2 * gradient

    @dataclass(frozen=True)
    class Scores(vertical.Defense):
        def reveal(self, logits: np.ndarray, context: vertical.Context) -> np.ndarray:
            return again(super().reveal(logits / 2, context))

        def publish(
            self, weights: np.ndarray, bias: np.ndarray, context: vertical.Context
        ) -> tuple[np.ndarray, np.ndarray]:
            return weights, again(bias + context.features.mean())

    @dataclass(frozen=True)
    class FreshScores(vertical.Defense):
        def reveal(self, logits: np.ndarray, context: vertical.Context) -> np.ndarray:
            return super().reveal(logits / 2, context)

        def publish(
            self, weights: np.ndarray, bias: np.ndarray, context: vertical.Context
        ) -> tuple[np.ndarray, np.ndarray]:
            return weights, bias + context.features.mean()

    own, fresh = (Gradients(), FreshGradients()) if game == "split" else (Scores(), FreshScores())
    found, expected = trained(game, a=own), trained(game, a=fresh)
    same(found.transcripts["a"], expected.transcripts["a"])
    assert found.utility == expected.utility


def test_an_attribute_that_is_turned_in_place_is_turned_for_the_training_alone() -> None:
    @dataclass(frozen=True)
    class Turns(split_server.Defense):
        def begin(self, clients: split_server.ClientsContext) -> None:
            clients.attribute.zero_()

        def penalty(self, features: torch.Tensor, context: split_server.Context) -> torch.Tensor:
            return features.square().mean() * context.attribute.float().mean()

    @dataclass(frozen=True)
    class Reads(split_server.Defense):
        def penalty(self, features: torch.Tensor, context: split_server.Context) -> torch.Tensor:
            return features.square().mean() * context.attribute.float().mean()

    found, alone = trained("split_server", a=Turns(), b=Reads()), trained("split_server", b=Reads())
    same(found.transcripts["b"], alone.transcripts["b"])
    same(found.truth, alone.truth)


def test_an_extractor_that_is_changed_unseen_is_changed_for_the_training_alone() -> None:
    @dataclass(frozen=True)
    class Zero(federated.Defense):
        def upload(
            self, before: torch.Tensor, after: torch.Tensor, federation: federated.FederationContext
        ) -> torch.Tensor:
            before.numpy()[:] = 0  # torch does not see this
            return after.clone()

    found, alone = trained("federated", a=Zero(), b=none("federated")), trained("federated", b=none("federated"))
    same(found.transcripts["b"], alone.transcripts["b"])
    same(found.truth, alone.truth)


def test_features_that_are_changed_in_place_are_changed_for_the_hook_alone() -> None:
    @dataclass(frozen=True)
    class Zero(vertical.Defense):
        def publish(
            self, weights: np.ndarray, bias: np.ndarray, context: vertical.Context
        ) -> tuple[np.ndarray, np.ndarray]:
            context.features[:] = 0
            context.weights[:] = 0
            return weights, bias

    found, alone = trained("vertical", a=Zero(), b=none("vertical")), trained("vertical", b=none("vertical"))
    for setting in ("a", "b"):
        same(found.transcripts[setting], alone.transcripts["b"])
    same(found.truth, alone.truth)
    same(found.learned, alone.learned)


@dataclass(frozen=True)
class HalvesGradients(split.Defense):
    def backward(self, gradient: torch.Tensor, context: split.Context) -> torch.Tensor:
        return gradient.mul_(0.5)


@dataclass(frozen=True)
class HalvesFeatures(split_server.Defense):
    def release(self, features: torch.Tensor) -> torch.Tensor:
        return features.mul_(0.5)


@dataclass(frozen=True)
class HidesAttributes(federated.Defense):
    def regularizer(
        self, features: torch.Tensor, attribute: torch.Tensor, mask: torch.Tensor, values: int
    ) -> torch.Tensor | None:
        attribute.zero_()
        return None


@dataclass(frozen=True)
class AddsToUploads(federated.Defense):
    def upload(
        self, before: torch.Tensor, after: torch.Tensor, federation: federated.FederationContext
    ) -> torch.Tensor:
        return after.add_(1.0)


@dataclass(frozen=True)
class ShiftsTheBias(vertical.Defense):
    def publish(
        self, weights: np.ndarray, bias: np.ndarray, context: vertical.Context
    ) -> tuple[np.ndarray, np.ndarray]:
        bias += 1
        return weights, bias


@dataclass(frozen=True)
class RoundsLogits(vertical.Defense):
    def reveal(self, logits: np.ndarray, context: vertical.Context) -> np.ndarray:
        return super().reveal(np.round(logits, out=logits), context)


@pytest.mark.parametrize(
    ("game", "own", "sentence"),
    [
        ("split", HalvesGradients(), "backward changed the gradient it was given; expected a new tensor"),
        ("split_server", HalvesFeatures(), "release changed the features it was given; expected a new tensor"),
        ("federated", HidesAttributes(), "regularizer changed the attribute it was given; expected a new tensor"),
        ("federated", AddsToUploads(), "upload changed the after it was given; expected a new tensor"),
        ("vertical", ShiftsTheBias(), "publish changes an array it was given; expected a new array"),
        ("vertical", RoundsLogits(), "reveal changes an array it was given; expected a new array"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_hook_that_changes_what_it_is_given_is_refused_by_name(game: str, own: Any, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        trained(game, a=own)
    assert str(error.value) == f"defense.test_truth: {sentence}"


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_what_an_attack_writes_is_its_own_copy() -> None:
    batches = np.arange(12.0).reshape(2, 3, 2)
    view = View("mine", {"gradients"}, {"gradients": batches[1]}, np.random.default_rng(0))
    torch.from_numpy(view.gradients).zero_()  # torch goes through numpy's flag
    assert not view.gradients.any()
    np.testing.assert_array_equal(batches, np.arange(12.0).reshape(2, 3, 2))
    assert view.gradients.base is None  # nor can it see the other batches
