"""What an attack returns is held against what its case asks for; anything else is refused in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from cutlayer.core.errors import InputError
from cutlayer.core.transcript import View, of_setting
from cutlayer.games.base.attack import guessed
from cutlayer.games.split.attack import Attack
from cutlayer.plan import plugins
from cutlayer.stages.scores import measured

SEEN: dict[tuple[str, str], dict[str, np.ndarray]] = {
    ("split", "labels"): {"gradients": np.zeros((64, 8)), "hints": np.array([3, 5]), "classes": np.array(2)},
    ("split", "watched"): {"watched_gradients": np.zeros((4, 90, 8)), "classes": np.array(10)},
    ("split", "population"): {"attacked": np.arange(500), "classes": np.array(2)},
    ("split", "dimension"): {"gradients": np.zeros((64, 8)), "classes": np.array(2)},
    ("split_server", "attribute"): {"attacked": np.zeros((30, 8)), "values": np.array(3)},
    ("split_server", "training_attribute"): {"intercepted": np.zeros((4, 20, 8)), "values": np.array(2)},
    ("federated", "attribute"): {"attacked": np.zeros((30, 8)), "values": np.array(2)},
    ("federated", "attribute_by_device"): {"attacked": np.zeros((30, 8)), "values": np.array(2)},
    ("vertical", "features"): {"scores": np.zeros((25, 3)), "passive": np.array([1, 2])},
}
RIGHT: dict[tuple[str, str], list[Any]] = {
    ("split", "labels"): [np.zeros(64), np.zeros(64, np.float16), np.full(64, np.nan), np.full(64, -np.inf)],
    ("split", "watched"): [np.zeros((90, 10)), np.full((90, 10), np.nan)],
    ("split", "population"): [np.zeros((500, 2)), np.zeros((7, 500, 2)), np.zeros((500, 2), dtype=bool)],
    ("split", "dimension"): [np.array(4), 4, np.int64(4)],
    ("split_server", "attribute"): [np.zeros((30, 3)), np.zeros((4, 30, 3))],
    ("split_server", "training_attribute"): [np.zeros((4, 20, 2)), np.zeros((20, 2))],
    ("federated", "attribute"): [{"": np.zeros((3, 30, 2)), "other": np.zeros((30, 2))}],
    ("federated", "attribute_by_device"): [np.zeros((30, 2), np.float32)],
    ("vertical", "features"): [np.zeros((25, 2)), np.zeros((25, 2), dtype=int)],
}
LABELS, WATCHED, POPULATION = ("split", "labels"), ("split", "watched"), ("split", "population")
ATTRIBUTE, FEATURES, DIMENSION = ("split_server", "attribute"), ("vertical", "features"), ("split", "dimension")
WRONG = [
    (POPULATION, np.zeros((500, 3)), "an array of shape (500, 3); expected (500, 2)"),
    (POPULATION, np.zeros((7, 500, 3)), "an array of shape (7, 500, 3); expected (epochs, 500, 2)"),
    (POPULATION, np.zeros((0, 500, 2)), "an array of shape (0, 500, 2); expected (epochs, 500, 2)"),
    (POPULATION, np.zeros(500), "an array of shape (500,); expected (500, 2)"),
    (POPULATION, np.full((500, 2), np.nan), "a number that is not finite; expected finite numbers"),
    (LABELS, np.zeros((64, 1)), "an array of shape (64, 1); expected (64,)"),
    (LABELS, np.zeros(63), "an array of shape (63,); expected (64,)"),
    (LABELS, [0.0] * 64, "a list; expected an array of shape (64,)"),
    (LABELS, None, "None; expected an array of shape (64,)"),
    (LABELS, 0.5, "a float; expected an array of shape (64,)"),
    (LABELS, np.zeros(64, dtype=complex), "an array of complex128; expected real numbers"),
    (LABELS, np.zeros(64, dtype=object), "an array of object; expected real numbers"),
    (LABELS, np.full(64, "0"), "an array of <U1; expected real numbers"),
    (LABELS, {}, "no guess; expected (64,)"),
    (WATCHED, np.zeros((90, 5)), "an array of shape (90, 5); expected (90, 10)"),
    (WATCHED, np.zeros(90), "an array of shape (90,); expected (90, 10)"),
    (DIMENSION, np.array(4.0), "an array of float64; expected a whole number"),
    (DIMENSION, np.array([4]), "an array of shape (1,); expected ()"),
    (ATTRIBUTE, np.zeros((30, 2)), "an array of shape (30, 2); expected (30, 3)"),
    (ATTRIBUTE, np.full((30, 3), np.inf), "a number that is not finite; expected finite numbers"),
    (("split_server", "training_attribute"), np.zeros((4, 20)), "an array of shape (4, 20); expected (20, 2)"),
    (("federated", "attribute"), np.zeros((2, 30)), "an array of shape (2, 30); expected (30, 2)"),
    (FEATURES, np.zeros((25, 1)), "an array of shape (25, 1); expected (25, 2)"),
    (FEATURES, np.zeros((25, 2, 1)), "an array of shape (25, 2, 1); expected (25, 2)"),
    (FEATURES, np.full((25, 2), np.nan), "a number that is not finite; expected finite numbers"),
]


@dataclass(frozen=True)
class Given(Attack):
    """Guesses what it was made with."""

    sees: ClassVar[set[str]] = {"gradients"}

    guess: Any

    def infer(self, view: View) -> Any:
        return self.guess


def guesses(case: tuple[str, str], guess: Any) -> dict[str, np.ndarray]:
    game, target = case
    return guessed(
        Given(guess), View("given", set(), {}, None), plugins.create("protocol", game).guess_spec(SEEN[case], target)
    )


def test_every_target_of_every_protocol_is_here() -> None:
    games = plugins.names("protocol")
    targets = {(game, target) for game in games for target in plugins.method("protocol", game).constants["targets"]}
    assert set(SEEN) == set(RIGHT) == targets


@pytest.mark.parametrize("case", RIGHT, ids="-".join)
def test_what_is_asked_for_is_taken(case: tuple[str, str]) -> None:
    for guess in RIGHT[case]:
        found = guesses(case, guess)
        for name, one in (guess if isinstance(guess, dict) else {"": guess}).items():
            np.testing.assert_array_equal(found[name], one)


@pytest.mark.parametrize(("case", "guess", "sentence"), WRONG, ids=[f"{'-'.join(c)}: {s}" for c, _, s in WRONG])
def test_anything_else_is_refused_by_name(case: tuple[str, str], guess: Any, sentence: str) -> None:
    with pytest.raises(InputError) as error:
        guesses(case, guess)
    assert str(error.value) == f"attack.test_guesses: infer returned {sentence}"


def test_of_several_guesses_the_wrong_one_is_named() -> None:
    with pytest.raises(InputError, match=r"infer returned for 'vote' an array of shape \(3,\); expected \(64,\)$"):
        guesses(LABELS, {"": np.zeros(64), "vote": np.zeros(3)})


def test_whole_numbers_become_real_ones_which_have_an_order_when_they_are_turned_around() -> None:
    found = guesses(ATTRIBUTE, np.ones((30, 3), dtype=np.uint8))[""]
    assert (found.dtype, (-found).max()) == (np.float64, -1.0)


def test_what_is_measured_is_checked(split_run: Any) -> None:
    outcome, protocol = split_run("clicks"), plugins.create("protocol", "split")
    seen = outcome.transcripts[""] | outcome.shared
    name = ("clicks", "none", "", "given", 0)
    shapes = r"an array of shape \(64, 3\); expected \(64,\)"
    with pytest.raises(InputError, match=rf"^attack\.test_guesses: infer returned {shapes}"):
        measured(Given(np.zeros((64, 3))), protocol, outcome.truth, "cpu", seen, name)


@pytest.mark.parametrize("sees", [{"gradients"}, {"gradients", "hints"}])
def test_a_row_that_is_not_guessed_is_left_out_only_if_the_attack_has_its_label(
    sees: set[str], split_run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Given, "sees", sees)
    outcome, protocol = split_run("clicks"), plugins.create("protocol", "split")
    seen, labels = outcome.transcripts[""] | outcome.shared, of_setting(outcome.truth, "")["labels"]
    found = measured(
        Given(np.full(64, np.nan)), protocol, outcome.truth, "cpu", seen, ("clicks", "none", "", "given", 0)
    )
    auc, asked = ([row["value"] for row in found if row["metric"] == metric] for metric in ("leak_auc", "rows"))
    assert set(auc) == {0.5}
    known = (seen["hints"] >= 0).sum(axis=1) if "hints" in sees else np.zeros(len(labels))
    assert asked[:-1] == [64 - own for own, positives in zip(known, labels.sum(axis=1), strict=True) if positives > own]
