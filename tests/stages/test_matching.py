"""Matching: what bisection promises on curves that are known, and what is said where it cannot keep it."""

from __future__ import annotations

import csv
import dataclasses
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutlayer.core.errors import InputError
from cutlayer.games.base.attack import GuessSpec
from cutlayer.games.base.protocol import Outcome, Protocol
from cutlayer.plan import plugins
from cutlayer.stages import matching
from cutlayer.stages.matching import Point, Search, matched

LEAST, GREATEST = 0.001, 1.0
RULE = {
    "attack": "spy",
    "leak": "attack_accuracy",
    "utility": "test_accuracy",
    "targets": [0.8, 0.7],
    "tolerance": 0.01,
}


def falling(strength):
    """From 0.9 to 0.6, steepest at 0.03: by at most 0.3 / 4 an e-fold."""
    return 0.6 + 0.3 / (1 + strength / 0.03)


def search(curve=falling, evaluations=12, least=LEAST, greatest=GREATEST):
    """A search on a known curve, and the strengths that it evaluates, one after the other."""
    calls = []

    def evaluate(strength):
        calls.append(strength)
        leak = curve(strength)
        if isinstance(leak, str):
            return Point(reason=leak)
        return Point(leak, {"attack_accuracy": leak, "test_accuracy": leak - 0.2, "majority": 0.6})

    return Search("noise", least, greatest, evaluate, evaluations), calls


# Bisection.


@given(st.floats(0.62, 0.88))
def test_a_target_is_reached_within_the_tolerance_in_as_many_evaluations_as_bisection_needs(target):
    """Once the enclosing gap is no wider than tolerance / steepness, both of its ends are near enough."""
    found, calls = search()
    strength, made = found.reach(target, 0.01)
    halvings = math.ceil(math.log2(math.log(GREATEST / LEAST) * (0.3 / 4) / 0.01))
    assert abs(falling(strength) - target) <= 0.01
    assert made == len(calls) <= 2 + halvings


def test_targets_share_evaluations():
    together, calls = search()
    alone = [search()[0].reach(target, 0.01)[1] for target in (0.65, 0.7, 0.75, 0.8, 0.85)]
    made = [together.reach(target, 0.01)[1] for target in (0.65, 0.7, 0.75, 0.8, 0.85)]
    assert sum(made) == len(calls) == len(set(calls)) < sum(alone)
    assert [together.reach(target, 0.01)[1] for target in (0.65, 0.85)] == [0, 0]
    assert all(0 <= count <= other for count, other in zip(made, alone, strict=True))


def test_a_target_starts_from_the_tightest_bracket_known():
    found, calls = search()
    for strength in (LEAST, 0.01, 0.04, GREATEST):
        found.tried[strength] = found.evaluate(strength)
    calls.clear()
    found.reach(0.78, 1e-6)
    assert calls[0] == pytest.approx(0.02)  # the geometric middle of 0.01 and 0.04
    assert all(0.01 < strength < 0.04 for strength in calls)


def test_from_0_on_the_scale_is_linear():
    found, calls = search(lambda strength: 0.9 - 0.4 * strength, least=0.0)
    assert found.reach(0.6, 1e-3)[0] == 0.75
    assert calls == [0.0, 1.0, 0.5, 0.75]


def test_the_nearest_of_what_is_within_the_tolerance_is_taken():
    found, _ = search()
    for strength in (LEAST, 0.029, 0.031, 0.0302, GREATEST):
        found.tried[strength] = found.evaluate(strength)
    assert found.reach(falling(0.0301), 0.05) == (0.0302, 0)


# Curves that do not fall.


def test_of_several_strengths_that_leak_alike_the_least_is_found():
    """Down at 0.003, up at 0.01, down at 0.1."""
    found, _ = search(lambda strength: 0.9 if strength < 0.003 or 0.01 < strength < 0.1 else 0.6, evaluations=7)
    for strength in (0.005, 0.05):
        found.tried[strength] = found.evaluate(strength)
    found.reach(0.75, 0.01)
    assert min(set(found.usable) - {LEAST, 0.005, 0.05, GREATEST}) > LEAST
    assert max(set(found.usable) - {LEAST, 0.005, 0.05, GREATEST}) < 0.005


def test_a_dip_between_two_ends_that_leak_more_is_looked_for():
    found, calls = search(lambda strength: 0.9 - 0.3 * math.exp(-(math.log(strength / 0.1) ** 2)))
    assert found.reach(0.7, 0.02)[0] is not None
    assert calls[:3] == [LEAST, GREATEST, pytest.approx(math.sqrt(LEAST * GREATEST), rel=1e-5)]


@given(st.lists(st.floats(0.5, 0.95), min_size=2, max_size=9), st.floats(0.4, 0.99), st.integers(3, 8))
def test_whatever_the_curve_no_target_takes_more_evaluations_than_allowed_nor_leaves_the_range(levels, target, most):
    steps = np.geomspace(LEAST, GREATEST, len(levels) + 1)
    found, calls = search(lambda s: levels[min(int(np.searchsorted(steps, s, "right")), len(levels)) - 1], most)
    for wanted in (target, 0.7):
        before = len(calls)
        strength, made = found.reach(wanted, 0.005)
        assert made == len(calls) - before <= most
        assert strength is None or abs(found.tried[strength].leak - wanted) <= 0.005 + 1e-9
    assert len(set(calls)) == len(calls)
    assert all(LEAST <= strength <= GREATEST for strength in calls)


# What cannot be reached.


def said(found, target, **rule):
    (row,) = matched(found, RULE | {"targets": [target]} | rule)
    assert (row["setting"], row["metric"], row["value"]) == (f"inference={target}", "", None)
    return row["skipped"]


def test_a_target_below_all_that_was_found_says_so_and_what_a_guess_reaches():
    found, calls = search(evaluations=5)
    assert said(found, 0.55) == (
        "no noise from 0.001 to 1 brings it to 0.55: least of 5 found 0.609, most common value 0.600"
    )
    assert len(calls) == 5
    said(found, 0.5)
    assert len(calls) == 5  # what was looked for in vain is not looked for again


def test_a_target_above_all_that_was_found_says_so():
    found, _ = search(evaluations=3)
    assert said(found, 0.95) == "no noise from 0.001 to 1 leaves 0.95: greatest of 3 found 0.890"


def test_a_jump_over_the_target_says_where():
    found, _ = search(lambda strength: 0.9 if strength < 0.2 else 0.6, evaluations=6)
    (near,) = re.findall(
        r"^no noise from 0.001 to 1 was found within 0.01 of 0.74: nearest of 6 found 0.600 at (.*)$", said(found, 0.74)
    )
    assert 0.2 <= float(near) < 0.3


# Strengths that fail.


def test_a_strength_that_failed_is_no_answer_and_divides_the_gap():
    found, calls = search(lambda strength: "noise diverged" if 0.02 < strength < 0.06 else falling(strength))
    strength, _ = found.reach(0.71, 0.02)
    assert strength is not None
    assert not 0.02 < strength < 0.06
    assert any(0.02 < call < 0.06 for call in calls)
    assert len(set(calls)) == len(calls)


def test_next_to_strengths_that_failed_the_target_is_looked_for_first():
    """All that can be used leak too much, or too little: the end of what can be used is where the target should be."""
    for curve, target in (
        (lambda s: "diverged" if s > 0.05 else falling(s), 0.72),
        (lambda s: "diverged" if s < 0.01 else falling(s), 0.82),
    ):
        found, calls = search(curve, evaluations=6)
        assert found.reach(target, 0.02)[0] is not None
        assert len(calls) <= 6


def test_what_failed_is_said_with_its_reason():
    found, _ = search(lambda strength: "noise diverged" if strength > 0.5 else 0.8, evaluations=3)
    assert said(found, 0.6).endswith("; 1 of 3 failed (noise diverged)")
    none, _ = search(lambda strength: "noise diverged", evaluations=3)
    assert said(none, 0.6) == "no noise from 0.001 to 1 can be used; 3 of 3 failed (noise diverged)"


# The rows of a job.


class Curve(Protocol):
    """A protocol whose only part is what its defense leaks, up to what a seed draws."""

    def run(self, task):
        (defense,) = task.defenses.values()
        if defense.noise > 0.5:
            raise InputError(f"run.{task.name}", "training diverged")
        leak = falling(defense.noise) + 0.001 * task.seed + defense.offset
        seen = {"leak": np.array([leak, leak + 0.002])}  # of two adversaries
        drawn = {"setting": "", "attack": "as_drawn", "metric": "attack_accuracy", "value": 9.0}  # is no attack
        return Outcome({"": seen}, utility=[{"setting": "", "metric": "test_accuracy", "value": leak - 0.2}, drawn])

    def cases(self, transcript, target):
        for adversary, leak in enumerate(transcript["leak"]):
            yield {"adversary": adversary}, {"leak": leak}, None

    def guess_spec(self, seen, target):
        return GuessSpec(())

    def leak(self, guess, truth, case, rows, given):
        return {"attack_accuracy": float(guess), "majority": 0.6}


class Spy:
    target, sees = "attribute", frozenset({"leak"})

    def chosen(self, cases):
        return cases

    def skip(self, view):
        return ""

    def infer(self, view):
        return view.leak


DEFENSE = {"use": "noisy", "offset": 0.0, "noise": 3.0, "sweep": {"noise": [0.1]}}


@pytest.fixture
def write(monkeypatch, tmp_path):
    """`write(**changed)`: the reasons and the csv of a job on that curve."""
    made = {
        "protocol": lambda own: Curve(), "attack": lambda own: Spy(),
        "defense": lambda own: SimpleNamespace(**({"offset": 0.0} | own)),
    }  # fmt: skip
    monkeypatch.setattr(plugins, "create", lambda kind, name, own=None, game="": made[kind](own))
    monkeypatch.setattr(plugins, "strength", lambda name: ("noise", LEAST, GREATEST))
    monkeypatch.setattr(matching, "read", lambda data, name: (None, None))

    def call(evaluations=8, seeds=(0, 1), defense=DEFENSE, **rule):
        reasons = matching.match(
            "people", "noisy", {"protocol": "curve", "dataset": "d"}, defense, {"use": "spy"}, RULE | rule, evaluations,
            "", [], list(seeds), tmp_path / "out.csv",
        )  # fmt: skip
        return reasons, tmp_path / "out.csv"

    return call


def test_rows_are_those_of_scores_and_a_target_is_a_setting(write):
    reasons, file = write()
    rows = list(csv.DictReader(file.open()))
    assert reasons == []
    assert list(rows[0]) == ["setup", "defense", "attack", "seed", "setting", "metric", "value", "skipped"]
    assert {(row["setup"], row["defense"], row["attack"], row["skipped"]) for row in rows} == {
        ("people", "noisy", "spy", "")
    }
    assert [(row["seed"], row["setting"]) for row in rows[::5]] == [
        (seed, f"inference={target}") for seed in "01" for target in (0.8, 0.7)
    ]
    for start in range(0, len(rows), 5):
        found = {row["metric"]: float(row["value"]) for row in rows[start : start + 5]}
        assert list(found) == ["attack_accuracy", "majority", "test_accuracy", "strength", "evaluations"]
        assert abs(found["attack_accuracy"] - float(rows[start]["setting"].partition("=")[2])) <= 0.01
        leak = falling(found["strength"]) + 0.001 * int(rows[start]["seed"])
        assert found["attack_accuracy"] == pytest.approx(leak + 0.001)  # the mean over both adversaries
        assert found["test_accuracy"] == pytest.approx(leak - 0.2)


def test_the_same_job_writes_the_same_bytes_and_a_seed_does_not_depend_on_others(write):
    first = write()[1].read_bytes()
    assert write()[1].read_bytes() == first
    alone = write(seeds=[1])[1].read_text().splitlines()[1:]
    # The seed's number is its own, whatever else runs.
    assert [line for line in first.decode().splitlines() if ",spy,1," in line] == alone


def test_fixed_parameters_hold_and_sweeps_and_the_fixed_strength_do_not(write):
    for changed in ({"offset": 0.05}, {"sweep": {"noise": [0.4]}}, {"noise": 0.2}):
        rows = list(csv.DictReader(write(defense=DEFENSE | changed)[1].open()))
        strengths = [float(row["value"]) for row in rows if row["metric"] == "strength"]
        plain = [
            float(row["value"]) for row in csv.DictReader(write()[1].open()) if row["metric"] == "strength"
        ]  # fmt: skip
        assert (strengths == plain) == ("offset" not in changed)


def test_a_target_that_is_not_reached_is_a_row_with_the_reason(write):
    rows = list(csv.DictReader(write(targets=[0.8, 0.55])[1].open()))
    (missed,) = (row for row in rows if row["setting"] == "inference=0.55" and row["seed"] == "0")
    assert (missed["metric"], missed["value"]) == ("", "")
    assert missed["skipped"].startswith("no noise from 0.001 to 1 brings it to 0.55: least of ")
    assert missed["skipped"].endswith(" failed (training diverged)")
    assert sum(row["setting"] == "inference=0.8" for row in rows) == 10


def test_a_metric_that_there_is_not_is_an_error_that_offers_the_nearest(write):
    with pytest.raises(InputError, match=r"^match.people/noisy/seed0: there is no metric 'test_acuracy'; did you mean"):
        write(utility="test_acuracy")


def test_an_attack_that_does_not_apply_is_said_in_its_own_words(write, monkeypatch):
    monkeypatch.setattr(Spy, "skip", lambda self, view: "for others")
    rows = list(csv.DictReader(write(evaluations=3)[1].open()))
    assert {row["skipped"] for row in rows} == {
        "no noise from 0.001 to 1 can be used; 3 of 3 failed (for others)"  # the strongest did not train
    }


# What a defense says of its strength.


@pytest.mark.parametrize(
    ("constants", "message"),
    [
        ({}, r"^defense.dp: names no `strength`"),
        ({"strength": "noise"}, r"^defense.dp: its strength 'noise' is no parameter of the type float"),
        ({"strength": "epsilon", "strengths": (1.0, 1.0)}, r"^defense.dp: its strengths are \(1.0, 1.0\)"),
        ({"strength": "epsilon", "strengths": (-1.0, 1.0)}, r"^defense.dp: its strengths are \(-1.0, 1.0\)"),
        ({"strength": "epsilon", "strengths": (0.0, 1.0)}, r"^defense.dp: epsilon = 0.0; at least 0.001"),
    ],
)
def test_a_strength_that_cannot_be_is_refused(monkeypatch, constants, message):
    own = plugins.method("defense", "dp")
    fake = dataclasses.replace(own, constants={**own.constants, **constants})
    monkeypatch.setattr(plugins, "method", lambda kind, name, game="": fake)
    with pytest.raises(InputError, match=message):
        plugins.strength("dp")


def test_a_strength_is_a_parameter_and_its_ends(monkeypatch):
    own = plugins.method("defense", "dp")
    constants = {**own.constants, "strength": "epsilon", "strengths": (1, 10)}
    monkeypatch.setattr(plugins, "method", lambda kind, name, game="": dataclasses.replace(own, constants=constants))
    assert plugins.strength("dp") == ("epsilon", 1.0, 10.0)
