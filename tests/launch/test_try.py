"""`make try` on methods that are wrong: each is refused in a sentence that says what is wrong and what was expected."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from launch.trying import contract_tests

ROOT = Path(__file__).parents[2]
HEAD = '''"""{name}: wrong in one way."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from cutlayer.games.{game}.{kind} import {base}

SEEN = []


@dataclass(frozen=True)
class Mine({base}):
    """Mine."""

'''
STATE = "of one seed differ: it keeps state in between, or has a generator of its own"
Wrong = dict[str, tuple[str, str, str]]  # name -> (game, body, sentence)

DEFENSES: Wrong = {
    "writes": (
        "split",
        "def backward(self, gradient, context): return gradient.mul_(2)",
        "defense.writes: backward changed the gradient it was given; expected a new tensor",
    ),
    "turns": (
        "split",
        "def begin(self, training): training.labels[:] = 1 - training.labels",
        "begin changed the labels it was given; expected a new tensor",
    ),
    "by_numpy": (
        "split",
        "def backward(self, gradient, context): return gradient * float(np.random.rand())",
        "draws from numpy's global generator; draw with the context's generator",
    ),
    "by_torch": (
        "split",
        "def backward(self, gradient, context): return gradient * torch.rand(())",
        "draws from torch's global generator; draw with the context's generator",
    ),
    "remembers": (
        "split",
        "def backward(self, gradient, context): SEEN.append(1); return gradient * len(SEEN)",
        f"backward: two trainings {STATE}",
    ),
    "tracked": (
        "split",
        "def backward(self, gradient, context): return gradient * torch.ones((), requires_grad=True)",
        "defense.tracked: backward returned a tensor that requires a gradient; detach it",
    ),
    "divides": (
        "split",
        "def backward(self, gradient, context): return gradient / gradient.norm(dim=1, keepdim=True)",
        "backward returned a number that is not finite; expected finite numbers (of gradients that are all zero)",
    ),
    "doubles": (
        "split",
        "def soft_labels(self, context): return 2 * super().soft_labels(context)",
        "soft_labels returned weights that add up to 2; expected 1",
    ),
    "below_zero": (
        "split",
        "def to_class_probabilities(self, probabilities, state): return 2 * probabilities - 1 / probabilities.shape[1]",
        "defense.below_zero: to_class_probabilities returned -0.489 as a probability; expected 0 or more",
    ),
    "crashes": (
        "split",
        "def backward(self, gradient, context): return gradient + context.randn(3)",
        "AttributeError: 'Context' object has no attribute 'randn' ({file}, line 18)",
    ),
    "not_literal": (
        "split",
        "classes: ClassVar = set(range(2, 3))",
        "classes is {2} when it is imported and set() in its source; expected a literal",
    ),
    "decides": (
        "vertical",
        "def reveal(self, logits, context): return super().reveal(-logits, context)",
        "reveal changed which class has the highest score; expected the same one",
    ),
    "adds": (
        "vertical",
        "def publish(self, weights, bias, context): bias += 1; return weights, bias",
        "defense.adds: publish changes an array it was given; expected a new array",
    ),
    "hides": (
        "vertical",
        "def publish(self, weights, bias, context): context.features[:] = 0; return weights, bias",
        "publish changed the features it was given; expected a new array",
    ),
    "stands": (
        "split_server",
        "def update(self, utility, features, context): return False",
        "the encoder does not move in 12 steps: update returned False, or set no gradients",
    ),
    "counts_steps": (
        "split_server",
        "def penalty(self, features, context): SEEN.append(1); return features.mean() * len(SEEN)",
        f"two trainings {STATE}",
    ),
    "unknown_role": (
        "federated",
        "roles = property(lambda self: {'secrecy': 1.0})",
        "has the role 'secrecy'; expected utility, privacy or task",
    ),
    "padded": (
        "federated",
        "def regularizer(self, features, attribute, mask, values): return features.flatten(1).square().mean(1)",
        "regularizer counts padding: rows where the mask is False must not matter",
    ),
    "constant": (
        "federated",
        "def regularizer(self, features, attribute, mask, values): return features.detach().flatten(1).mean(1)",
        "regularizer returned a constant; expected a function of the features",
    ),
    "uploads_less": (
        "federated",
        "def upload(self, before, after, federation): return after.mean(0)",
        "defense.uploads_less: upload returned a tensor of shape (400,), float32, on cpu; expected a tensor of",
    ),
}
LABELS = "sees: ClassVar[set[str]] = {'gradients'}\n    classes: ClassVar[set[int]] = {2}\n    def infer(self, view): "
FEATURES = "sees: ClassVar[set[str]] = {'scores', 'passive'}\n    def infer(self, view): "
ATTRIBUTE = "sees: ClassVar[set[str]] = {'attacked', 'values'}\n    def infer(self, view): "
ATTACKS: Wrong = {
    "lists": (
        "split",
        f"{LABELS}return view.gradients[:, 0].tolist()",
        "attack.lists: infer returned a list; expected an array of shape (64,)",
    ),
    "two_columns": (
        "split",
        f"{LABELS}return view.gradients[:, :2]",
        "attack.two_columns: infer returned an array of shape (64, 2); expected (64,)",
    ),
    "random": (
        "split",
        f"{LABELS}return np.random.rand(len(view.gradients))",
        "draws from numpy's global generator; draw with the view's generator",
    ),
    "learns": (
        "split",
        f"{LABELS}SEEN.append(1); return view.gradients[:, 0] * (-1) ** len(SEEN)",
        f"two guesses {STATE}",
    ),
    "scribbles": (
        "split",
        f"{LABELS}view.gradients[:] = 0; return view.gradients[:, 0]",
        "attack.scribbles: infer changes an array that it sees; expected a copy",
    ),
    "misspelt": (
        "split",
        LABELS.replace("gradients", "gradient") + "return view.gradient[:, 0]",
        "sees 'gradient', which the protocol split does not show; did you mean 'gradients'?",
    ),
    "aims": (
        "split",
        "target: ClassVar[str] = 'label'\n    " + LABELS + "return view.gradients[:, 0]",
        "its target is 'label'; expected dimension or labels or population or watched",
    ),
    "of_any_classes": (
        "split",
        LABELS.replace("{2}", "set()") + "return view.gradients[:, 0]",
        "a score tells 2 classes apart, here there are 10; expected an attack that says so: classes = {2}",
    ),
    "skips": (
        "split",
        "def skip(self, view): return 'no'\n    " + LABELS + "return view.gradients[:, 0]",
        "skip returned 'no'; expected '' or such as 'for 2 classes, here there are 5'",
    ),
    "abstains": (
        "vertical",
        f"{FEATURES}return np.full((len(view.scores), len(view.passive)), np.nan)",
        "attack.abstains: infer returned a number that is not finite; expected finite numbers",
    ),
    "one_value": (
        "split_server",
        f"{ATTRIBUTE}return np.ones((len(view.attacked), 1))",
        "attack.one_value: infer returned an array of shape (50, 1); expected (50, 3)",
    ),
    "nothing": (
        "federated",
        f"{ATTRIBUTE}pass",
        "attack.nothing: infer returned None; expected an array of shape (30, 3)",
    ),
}
DATASETS = {
    "few_names": ('("malignant", "benign")', '("malignant",)', "has 2 classes, 1 class_names and 2 class_rates; "),
    "more_than_all": ("(0.3726,", "(0.4726,", "its class_rates add up to 1.1; expected 1"),
    "disordered": ("0.06, 0.18", "0.18, 0.06", "the schema of x1 is not in ascending order: [0.0, 0.18, 0.06, "),
    "one_constant": ("(0.0, 0.06, 0.18, 15.0, 4254.0)", "(1.0, 1.0)", "column [0] of its stand-in has one value; "),
}  # fmt: skip
NAMES = {"named": "other", "unnamed": ""}  # file -> how its docstring begins


def write(folder: Path) -> dict[str, str]:
    """All of them into a folder; name -> the sentence that is expected."""
    expected = {}
    for kind, wrong in (("defense", DEFENSES), ("attack", ATTACKS)):
        for name, (game, body, sentence) in wrong.items():
            file, base = folder / f"{name}.py", kind.capitalize()
            file.write_text(HEAD.format(name=name, game=game, kind=kind, base=base) + f"    {body}\n")
            expected[name] = sentence.replace("{file}", str(file))
    template = (ROOT / "docs/templates/dataset.py").read_text()
    for name, (old, new, sentence) in DATASETS.items():
        (folder / f"{name}.py").write_text(template.replace("cells:", f"{name}:", 1).replace(old, new))
        (folder / name).mkdir()
        (folder / name / "cells.csv").write_text("1\n")
        expected[name] = sentence
    for name, begins in NAMES.items():
        text = HEAD.format(name=begins, game="split", kind="defense", base="Defense")
        (folder / f"{name}.py").write_text(text if begins else text.partition("\n")[2])
        found = f"begins with '{begins}:'" if begins else "is missing"
        expected[name] = f"the file's docstring {found}; expected '{name}: ' and a sentence"
    return expected


def test_whatever_is_wrong_with_a_method_is_said_in_a_sentence(tmp_path: Path) -> None:
    expected = write(tmp_path)
    command = contract_tests(str(tmp_path))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("not so: ")]
    for name, sentence in expected.items():
        own = [line for line in lines if re.search(rf"\[([\w ]+-)?{name.replace('_', ' ')}[-\]]", line)]
        assert [line for line in own if f": {sentence}" in line], (name, sentence, own)
    bare = [
        line for line in lines if re.search(r"assert |AssertionError|not close|DID NOT RAISE|^not so: [^:]*:? *$", line)
    ]
    assert bare == []
