"""The contract of attacks, over every attack on disk that the vertical protocol can serve."""

from __future__ import annotations

import numpy as np
import pytest

from cutlayer import plugins
from cutlayer.seeds import generator
from cutlayer.transcript import OutsideThreatModel, View

VERTICAL = plugins.create("protocol", "vertical")
SEES = {name: plugins.method("attack", name).constants.get("sees", set()) for name in plugins.names("attack")}
NEEDS = {name: plugins.method("attack", name).constants.get("needs", set()) for name in SEES}
ATTACKS = [name for name in SEES if SEES[name] <= VERTICAL.shows]
WHITE_BOX = [name for name in ATTACKS if "bias" in SEES[name]]
BLIND = [name for name in ATTACKS if "active_features" not in SEES[name]]
every_attack = pytest.mark.parametrize("name", ATTACKS)
white_box = pytest.mark.parametrize("name", WHITE_BOX)


def view_of(name, seen, seed=0):
    return View(name, SEES[name], seen, generator("test_attacks", name, seed))


def setups_for(name):
    """The fixture's setups that an attack is for."""
    return ["one_feature"] if "passive" in NEEDS[name] else ["two_classes", "three_classes", "one_feature"]


@pytest.fixture(scope="module")
def attacked(run, cases):
    """`attacked(name, setup, ...)`: for every window to which the attack applies, (seen, guess, mse)."""

    def each(name, setup, defense="none", **parameters):
        outcome = run(setup, defense, **parameters)
        method = plugins.create("attack", name)
        for case, seen, rows in cases(outcome):
            view = view_of(name, seen)
            if not method.skip(view):
                guess = method.infer(view)
                yield seen, guess, VERTICAL.leak(guess, outcome.truth, case, rows)["mse"]

    return each


@every_attack
def test_a_guess_is_finite_and_has_the_shape_of_the_truth(name, attacked):
    for setup in setups_for(name):
        found = list(attacked(name, setup))
        assert found
        for seen, guess, _ in found:
            assert guess.shape == (len(seen["scores"]), seen["passive_weights"].shape[1])
            assert np.isfinite(guess).all()


@every_attack
def test_the_same_view_gives_the_same_guess(name, run, cases):
    method = plugins.create("attack", name)
    for _, seen, _ in cases(run(setups_for(name)[0])):
        np.testing.assert_array_equal(method.infer(view_of(name, seen)), method.infer(view_of(name, seen)))


@every_attack
def test_an_attack_leaves_what_it_sees_as_it_is(name, run, cases):
    for _, seen, _ in cases(run(setups_for(name)[0])):
        before = {key: value.copy() for key, value in seen.items()}
        plugins.create("attack", name).infer(view_of(name, seen))
        for key, value in before.items():
            np.testing.assert_array_equal(seen[key], value)


@every_attack
def test_a_guess_depends_on_what_the_attack_sees_alone(name, run, cases):
    for _, seen, _ in cases(run(setups_for(name)[0])):
        visible = {key: value for key, value in seen.items() if key in SEES[name]}
        hidden = {key: np.full_like(value, np.nan) for key, value in seen.items() if key not in SEES[name]}
        method = plugins.create("attack", name)
        guess = method.infer(view_of(name, visible | hidden))
        np.testing.assert_array_equal(guess, method.infer(view_of(name, seen)))


@every_attack
def test_nothing_outside_the_threat_model_can_be_seen(name, run, cases):
    outcome = run(setups_for(name)[0])
    everything = outcome.transcripts[""] | outcome.shared | outcome.truth | outcome.learned
    _, seen, _ = cases(outcome)[0]
    view = view_of(name, everything | {"labels": np.zeros(3), "truth": np.zeros(3)} | seen)
    outside = (everything.keys() | VERTICAL.shows | {"labels", "truth", "features"}) - SEES[name]
    assert {"labels", "truth", "features", "population"} <= outside
    for part in outside:
        with pytest.raises(OutsideThreatModel, match=rf"^attack\.{name}: asks for '{part}', outside"):
            getattr(view, part)


@every_attack
def test_what_is_seen_cannot_be_written(name, run, cases):
    _, seen, _ = cases(run(setups_for(name)[0]))[0]
    view = view_of(name, seen)
    for part in SEES[name]:
        with pytest.raises(ValueError, match="read-only"):
            getattr(view, part)[...] = 0


@every_attack
def test_what_the_protocol_does_not_show_is_missing_by_name(name):
    with pytest.raises(
        OutsideThreatModel, match=rf"^attack\.{name}: asks for 'scores', which this protocol does not show"
    ):
        _ = view_of(name, {}).scores


@every_attack
def test_skip_is_silent_or_a_sentence_with_the_reason(name, run, cases):
    for setup in ("one_feature", "two_classes", "three_classes"):
        for _, seen, _ in cases(run(setup)):
            reason = plugins.create("attack", name).skip(view_of(name, seen))
            assert reason == "" or (len(reason.split()) > 4 and ", here " in reason)


def test_the_black_box_attack_is_for_two_classes(run, cases):
    for _, seen, _ in cases(run("three_classes")):
        assert plugins.create("attack", "black_box").skip(view_of("black_box", seen)).endswith("and 3")


@pytest.mark.parametrize("name", [name for name in ATTACKS if NEEDS[name] <= {"passive"}])
def test_on_several_named_features_an_attack_skips_or_guesses_all(name, run, cases):
    for case, seen, rows in cases(run("named_features")):
        method, view = plugins.create("attack", name), view_of(name, seen)
        assert case["d"] == 2
        assert method.skip(view) or method.infer(view).shape == (len(rows), 2)


def test_the_exact_center_is_for_few_features(run, cases):
    method = plugins.create("attack", "chebyshev_center", {"limit": 4})
    for case, seen, _ in cases(run("three_classes")):
        assert bool(method.skip(view_of("chebyshev_center", seen))) == (case["d"] > 4)


@pytest.mark.parametrize("setup", ["two_classes", "three_classes"])
@white_box
def test_solving_the_equations_beats_guessing(name, setup, attacked):
    ours, guessing = list(attacked(name, setup)), list(attacked("random_guess", setup))
    assert len(ours) == len(guessing)
    assert np.mean([error for *_, error in ours]) < np.mean([error for *_, error in guessing])


@white_box
def test_fewer_features_than_classes_are_found_exactly(name, attacked):
    exact = [error for seen, _, error in attacked(name, "three_classes") if seen["passive_weights"].shape[1] == 1]
    assert len(exact) == 2
    assert max(exact) < 1e-6


@pytest.mark.parametrize("setup", ["two_classes", "three_classes"])
@white_box
def test_the_scheme_made_against_it_hurts_it(name, setup, attacked):
    before = np.mean([error for *_, error in attacked(name, setup)])
    after = np.mean([error for *_, error in attacked(name, setup, "pps", transform="minus_identity")])
    assert after > before


@pytest.mark.parametrize("name", BLIND)
def test_a_blind_guess_does_not_care_about_any_defense(name, attacked):
    for (_, before, _), (_, after, _) in zip(
        attacked(name, "two_classes"), attacked(name, "two_classes", "pps"), strict=True
    ):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", [name for name in ATTACKS if "solver" in plugins.method("attack", name).parameters])
def test_cvxpy_solves_the_same_problem(name, run, cases):
    for _, seen, _ in list(cases(run("three_classes")))[2:4]:
        few = seen | {key: seen[key][:3] for key in ("scores", "active_features")}
        guesses = [
            plugins.create("attack", name, {"solver": solver}).infer(view_of(name, few))
            for solver in ("exact", "cvxpy")
        ]
        np.testing.assert_allclose(*guesses, atol=1e-6)
