"""What a newcomer gets wrong in a method of their own: each mistake is refused in one sentence that names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

from cutlayer.core.errors import InputError
from cutlayer.games.federated import defense as federated
from cutlayer.games.split import defense as split
from cutlayer.games.split_server import defense as split_server
from cutlayer.games.vertical import defense as vertical
from cutlayer.plan import plugins
from cutlayer.plan.contracts import contracted

HEAD = """
from dataclasses import dataclass
from typing import ClassVar
from cutlayer.games.split.defense import Defense, Context
from cutlayer.games.split.attack import Attack
from cutlayer.games.split.model import Model
from cutlayer.games.base import defense as base

"""
IMPORT = "from cutlayer.games.<game>.defense import Defense"
MISTAKES = {
    "a misspelt hook": (
        "defense",
        "@dataclass(frozen=True)\nclass Mine(Defense):\n    def backwards(self, gradient, context): return 0 * gradient",
        "'backwards' overrides no hook of its game; did you mean 'backward'?",
    ),
    "a hook of another game": (
        "defense",
        "@dataclass(frozen=True)\nclass Mine(Defense):\n    def upload(self, before, after, federation): return after",
        "'upload' overrides no hook of its game; known: auc_bound, backward, begin, drawn, gaussian, outputs, "
        "penalty, soft_labels, to_class_probabilities, top",
    ),
    "a misspelt hook of an attack": (
        "attack",
        "@dataclass(frozen=True)\nclass Mine(Attack):\n    def infers(self, view): return view.gradients[:, 0]",
        "'infers' overrides no hook of its game; did you mean 'infer'?",
    ),
    "a misspelt hook of a model": (
        "model",
        "@dataclass(frozen=True)\nclass Mine(Model):\n    def botom(self, inputs): return None",
        "'botom' overrides no hook of its game; did you mean 'bottom'?",
    ),
    "a field called like a hook": (
        "defense",
        "@dataclass(frozen=True)\nclass Mine(Defense):\n    soft_labels: float = 1.0",
        "the parameter 'soft_labels' hides the hook of that name; give it another name",
    ),
    "a constant called like a hook": (
        "defense",
        "@dataclass(frozen=True)\nclass Mine(Defense):\n    outputs = 3",
        "the parameter 'outputs' hides the hook of that name; give it another name",
    ),
    "no dataclass": (
        "defense",
        "class Mine(Defense):\n    strength: float = 1.0",
        "Mine is no dataclass; put @dataclass(frozen=True) above it",
    ),
    "no base class": (
        "defense",
        "@dataclass(frozen=True)\nclass Mine:\n    def backward(self, gradient, context): return gradient",
        f"mine.py has no class that extends Defense; {IMPORT}",
    ),
    "no game": (
        "defense",
        "@dataclass(frozen=True)\nclass Mine(base.Defense):\n    weight: float = 1.0",
        f"Mine extends no game's contract; {IMPORT}",
    ),
    "two classes": (
        "defense",
        "@dataclass(frozen=True)\nclass Mine(Defense): pass\n@dataclass(frozen=True)\nclass Yours(Defense): pass",
        "mine.py has 2 subclasses of Defense; expected one",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_method_is_refused_when_the_dag_is_built(tmp_path: Path, mistake: str) -> None:
    kind, text, sentence = MISTAKES[mistake]
    (tmp_path / "mine.py").write_text(HEAD + text)
    with pytest.raises(InputError) as error:
        contracted(kind, "mine", tmp_path / "mine.py")
    assert str(error.value).startswith(f"{kind}.mine: {sentence}")


@pytest.mark.parametrize("kind", ["defense", "attack", "model"])
def test_a_method_without_a_mistake_is_taken(tmp_path: Path, kind: str) -> None:
    body = f"class Mine({kind.capitalize()}):\n    weight: float = 1.0\n    def _own(self): pass"
    (tmp_path / "mine.py").write_text(f"{HEAD}@dataclass(frozen=True)\n{body}")
    assert contracted(kind, "mine", tmp_path / "mine.py")[-1].node.name == "Mine"


def test_a_parameter_without_a_default_must_be_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"{HEAD}@dataclass(frozen=True)\nclass Mine(Defense):\n    weight: float\n    other: float = 1.0")
    files = plugins._files("defense")
    monkeypatch.setitem(files, "mine", [file])
    with pytest.raises(InputError, match=r"^defense\.mine: its parameter 'weight' is not given; it has no default$"):
        plugins.check_given("defense", "mine", {"other": 2.0})
    plugins.check_given("defense", "mine", {"weight": 2.0})


@pytest.mark.parametrize("kind", ["model", "defense", "attack"])
def test_only_the_undefended_and_the_floor_have_a_file_in_several_games(kind: str) -> None:
    several = {name for name, files in plugins._files(kind).items() if len(files) > 1}
    assert several == ({"none", "send_nothing"} if kind == "defense" else set())


@pytest.mark.parametrize("kind", ["model", "defense", "attack"])
def test_a_method_stands_in_the_game_whose_contract_it_extends(kind: str) -> None:
    for name, files in plugins._files(kind).items():
        for file in [file for file in files if file.is_relative_to(plugins.ROOT)]:
            room = file.parts[-3]
            own = plugins.method(kind, name, room).constants["games"]
            assert own == {room} or (room == "attributes" and own == {"split_server", "federated"})


# What hooks return.


def context(rows: int = 6) -> split.Context:
    draw = torch.Generator().manual_seed(0)
    training = split.Training(labels=torch.arange(rows) % 2, classes=2, outputs=2, num_releases=1, generator=draw)
    return split.Context(training, torch.arange(rows))


def gradient() -> torch.Tensor:
    return torch.ones(6, 3)


EXPECTED = "expected a tensor of shape (6, 3), float32, on cpu"
WIDER = "a tensor of shape (6, 5), float32, on cpu"
RETURNED = {
    "wrong shape": (lambda g: g[:, :2], f"backward returned a tensor of shape (6, 2), float32, on cpu; {EXPECTED}"),
    "wrong dtype": (lambda g: g.double(), f"backward returned a tensor of shape (6, 3), float64, on cpu; {EXPECTED}"),
    "wrong device": (
        lambda g: g.to("meta"),
        f"backward returned a tensor of shape (6, 3), float32, on meta; {EXPECTED}",
    ),
    "not finite": (lambda g: g / 0, "backward returned a number that is not finite; expected finite numbers"),
    "nothing": (lambda g: None, f"backward returned a NoneType; {EXPECTED}"),
    "an array": (lambda g: g.numpy(), f"backward returned an array of shape (6, 3), float32, on cpu; {EXPECTED}"),
}


@pytest.mark.parametrize("mistake", RETURNED)
def test_what_backward_returns_is_checked(mistake: str) -> None:
    made, sentence = RETURNED[mistake]

    @dataclass(frozen=True)
    class Mine(split.Defense):
        def backward(self, gradient: torch.Tensor, context: split.Context) -> torch.Tensor:
            return made(gradient)

    with pytest.raises(InputError) as error:
        Mine().backward(gradient(), context())
    assert str(error.value) == f"defense.{__name__.rpartition('.')[2]}: {sentence}"


def test_a_defense_is_not_blamed_for_a_training_that_diverged() -> None:
    @dataclass(frozen=True)
    class Mine(split.Defense):
        def backward(self, gradient: torch.Tensor, context: split.Context) -> torch.Tensor:
            return 2 * gradient

    assert Mine().backward(gradient() / 0, context()).isinf().all()


def test_huge_finite_numbers_are_finite() -> None:
    @dataclass(frozen=True)
    class Mine(split.Defense):
        def backward(self, gradient: torch.Tensor, context: split.Context) -> torch.Tensor:
            return gradient * 3e38  # whose sum is not

    assert Mine().backward(gradient(), context()).isfinite().all()


def refused(call: Callable[[], object], sentence: str) -> None:
    """What a hook returned is refused, in this sentence."""
    with pytest.raises(InputError) as error:
        call()
    assert f": {sentence}" in str(error.value)


def test_what_hooks_of_labels_return_is_checked() -> None:
    @dataclass(frozen=True)
    class OfLabels(split.Defense):
        def outputs(self, classes: int) -> int:
            return classes - 1

        def soft_labels(self, context: split.Context) -> torch.Tensor:
            return torch.ones(len(context.rows), 5)

        def to_class_probabilities(self, probabilities: np.ndarray, state: object) -> np.ndarray:
            return 2 * probabilities

        def drawn(self, state: object, training: split.Training) -> torch.Tensor:
            return training.randn(len(training.labels), 2)

    for sentence, call in {
        "outputs returned 1; expected a whole number from 2": lambda: OfLabels().outputs(2),
        f"soft_labels returned {WIDER}; expected a tensor of shape (6, 2)": lambda: OfLabels().soft_labels(context()),
        "to_class_probabilities returned rows that add up to 1 only within 1;": lambda: (
            OfLabels().to_class_probabilities(np.full((4, 2), 0.5), None)
        ),
        "drawn returned a tensor of shape (6, 2), float32, on cpu; expected a tensor of shape (6,), float32": lambda: (
            OfLabels().drawn(None, context().training)
        ),
    }.items():
        refused(call, sentence)


def test_what_hooks_of_features_return_is_checked() -> None:
    @dataclass(frozen=True)
    class OfFeatures(vertical.Defense):
        def publish(self, weights, bias, context):  # type: ignore[no-untyped-def]
            return weights[:, :1], bias

        def reveal(self, logits, context):  # type: ignore[no-untyped-def]
            return logits

    @dataclass(frozen=True)
    class Unpaired(vertical.Defense):
        def publish(self, weights, bias, context):  # type: ignore[no-untyped-def]
            return weights

    ones = np.ones((2, 3))
    for sentence, call in {
        "publish returned an array of shape (2, 1), float64, on cpu; ": lambda: OfFeatures().publish(
            ones, ones[:, 0], None
        ),
        "publish returned a ndarray; expected (weights, bias)": lambda: Unpaired().publish(ones, ones[:, 0], None),
        "reveal returned rows that add up to 1 only within 2;": lambda: OfFeatures().reveal(ones, None),
    }.items():
        refused(call, sentence)


def test_what_hooks_of_clients_return_is_checked() -> None:
    @dataclass(frozen=True)
    class OfClients(split_server.Defense):
        def release(self, features):  # type: ignore[no-untyped-def]
            return features.flatten(1)

        def deviation(self, clients):  # type: ignore[no-untyped-def]
            return -1.0

        def auc_bound(self, clients):  # type: ignore[no-untyped-def]
            return 0.4

        def penalty(self, features, context):  # type: ignore[no-untyped-def]
            return features.sum(dim=0)

        def update(self, utility, features, context):  # type: ignore[no-untyped-def]
            return None

    rows = torch.ones(2, 4, 3)
    for sentence, call in {
        "release returned a tensor of shape (2, 12), ": lambda: OfClients().release(rows),
        "deviation returned -1.0; expected a finite number from 0": lambda: OfClients().deviation(None),
        "auc_bound returned 0.4; expected None or an AUC": lambda: OfClients().auc_bound(None),
        "penalty returned a tensor of shape (4, 3)": lambda: OfClients().penalty(rows, None),
        "update returned None; expected True or False": lambda: OfClients().update(rows, rows, None),
    }.items():
        refused(call, sentence)


def test_what_hooks_of_devices_return_is_checked() -> None:
    @dataclass(frozen=True)
    class OfDevices(federated.Defense):
        def regularizer(self, features, attribute, mask, values):  # type: ignore[no-untyped-def]
            return features.sum()

        def upload(self, before, after, federation):  # type: ignore[no-untyped-def]
            return after[0]

    rows = torch.ones(2, 4, 3)
    for sentence, call in {
        "regularizer returned a tensor of shape (), ": lambda: OfDevices().regularizer(rows, rows, rows, 2),
        "upload returned a tensor of shape (3,), ": lambda: OfDevices().upload(rows[0, 0], rows[0], None),
    }.items():
        refused(call, sentence)


def test_the_base_hooks_cost_nothing_to_check() -> None:
    """What a contract itself returns is not looked at: only overrides are."""
    assert not hasattr(split.Defense.backward, "__wrapped__")
    none = import_module("cutlayer.games.split.defenses.none").NoDefense
    assert none.backward is split.Defense.backward


def test_the_library_does_not_know_how_jobs_start() -> None:
    """No file of the library imports the machinery of jobs."""
    for file in plugins.ROOT.rglob("*.py"):
        text = file.read_text()
        assert "from launch" not in text, file
        assert "import launch" not in text, file
