"""The contract of attacks, over every attack on disk, and what those of the vertical protocol guarantee."""

from __future__ import annotations

import ast
import functools
import re

import numpy as np
import pytest
from tests.games import test_federated as federated_runs
from tests.games import test_split_server as server_runs
from tests.games.contracts import DIFFER, alike, draws_with, near

from cutlayer.core.errors import nearest
from cutlayer.core.seeds import generator
from cutlayer.core.transcript import OutsideThreatModel, View, of_setting
from cutlayer.games.base.attack import guessed
from cutlayer.plan import plugins

PROTOCOLS = {name: plugins.create("protocol", name) for name in plugins.names("protocol")}
VERTICAL = PROTOCOLS["vertical"]
METHODS = {name: plugins.method("attack", name) for name in plugins.names("attack")}
SEES, NEEDS = ({name: m.constants[key] for name, m in METHODS.items()} for key in ("sees", "needs"))
OF = {name: sorted(m.constants["games"]) for name, m in METHODS.items()}
ATTACKS = [name for name in METHODS if "vertical" in OF[name]]
WHITE_BOX = [name for name in ATTACKS if {"scores", "bias"} <= SEES[name] and name != "agnostic"]  # see its own tests
EXACT = [name for name in WHITE_BOX if name != "grn"]  # which learns one map for all rows and solves no row's equations
BLIND = [name for name in ATTACKS if "active_features" not in SEES[name]]
SHORT = {
    "model_completion": {"epochs": 2, "steps": 5},
    "guess_k": {"most": 5},
    "grn": {"steps": 50},
    "exploit": {"steps": 5, "restarts": 2},
    "batch_inversion": {"steps": 5},
    **{name: {"epochs": 1} for name in ("basic", "decensoring", "dpa", "dsa", "retrained")},
}  # the defaults take long
AT_EACH_QUERY = {"known_mean", "attacked_mean"}  # where noise is drawn at each query alone
HIDDEN = {
    "vertical": {"labels", "truth", "features", "population"}, "split": {"labels", "truth", "attacked_labels"},
    "split_server": {"labels", "truth", "training_attribute"}, "federated": {"labels", "truth", "attacked_inputs"},
}  # fmt: skip


def variants(name):
    """An attack as it is, and with each choice of each parameter that has choices."""
    choices = {
        parameter: ast.literal_eval(annotation.removeprefix("Literal[").removesuffix("]") + ",")
        for parameter, annotation in METHODS[name].parameters.items()
        if annotation.startswith("Literal[")
    }
    default = plugins.create("attack", name)
    others = [{p: choice} for p, some in choices.items() for choice in some if choice != getattr(default, p)]
    return [SHORT.get(name, {}) | own for own in [{}, *others]]


SPLIT = [(name, own) for name in METHODS if "split" in OF[name] for own in variants(name)]
EVERY = [(game, name, SHORT.get(name, {})) for name in METHODS for game in sorted(OF[name]) if game != "split"]
EVERY += [("split", *variant) for variant in SPLIT]
every_attack = pytest.mark.parametrize("name", ATTACKS)
white_box = pytest.mark.parametrize("name", WHITE_BOX)
split_attacks = pytest.mark.parametrize(
    ("name", "own"), SPLIT, ids=["-".join([name, *map(str, own.values())]) for name, own in SPLIT]
)
any_protocol = pytest.mark.parametrize(
    ("protocol", "name", "own"), EVERY, ids=["-".join([*one, *map(str, own.values())]) for *one, own in EVERY]
)


def view_of(name, seen, seed=0):
    return View(name, SEES[name], seen, generator("test_attacks", name, seed))


def nothing_like(array):
    return np.full_like(array, np.nan if array.dtype.kind == "f" else 0)


def setups_for(name):
    """The fixture's setups that a vertical attack is for."""
    return ["one_feature"] if "passive" in NEEDS[name] else ["two_classes", "three_classes", "one_feature"]


@functools.cache
def trained(protocol, images=False):
    """A run of one of the games about attributes, with all that its protocol shows."""
    if protocol == "federated":  # of a defense with networks on the devices
        return PROTOCOLS[protocol].run(federated_runs.task(federated_runs.Everything()))
    own = {"own": server_runs.images(), "model": {"use": "strided_cnn", "channels": 2}, "batch": 20} if images else {}
    return PROTOCOLS[protocol].run(server_runs.task(poison=0.2, **own))


@pytest.fixture(scope="module")
def seen_by(run, cases, split_run, split_cases):
    """`seen_by(protocol, name, own)`: the attack and what is seen in each case of a run that it applies to."""

    def each(protocol, name, own):
        method = plugins.create("attack", name, own)
        check_target(protocol, method)
        if protocol == "vertical":
            found = cases(run(setups_for(name)[0]))
        elif protocol == "split":
            found = split_cases(split_run("clicks"), method.target)
        else:
            outcome = trained(protocol, name == "dsa")
            found = PROTOCOLS[protocol].cases(outcome.transcripts[""] | outcome.shared, method.target)
        views, reasons = [], []
        for _, seen, _ in found:
            reasons.append(method.skip(view_of(name, seen)))
            views += [] if reasons[-1] else [seen]
        assert views, f"skips every case of a small training: {next(iter(reasons), None)}"
        return method, views

    return each


def check_target(protocol, method):
    targets = PROTOCOLS[protocol].targets
    assert method.target in targets, f"its target is {method.target!r}; expected {' or '.join(sorted(targets))}"


def guess_of(method, protocol, name, seen, visible=None):
    """The attack's guesses by name in a case."""
    return guessed(method, view_of(name, visible or seen), PROTOCOLS[protocol].guess_spec(seen, method.target))


@pytest.fixture(scope="module")
def attacked(run, cases):
    """`attacked(name, setup, ...)`: for every window to which the attack applies, (seen, guess, mse)."""

    def each(name, setup, defense="none", **parameters):
        outcome = run(setup, defense, **parameters)
        method = plugins.create("attack", name, SHORT.get(name))
        for case, seen, rows in cases(outcome):
            view = view_of(name, seen)
            if not method.skip(view):
                (guess,) = guess_of(method, "vertical", name, seen).values()
                yield seen, guess, VERTICAL.leak(guess, outcome.truth, case, rows)["mse"]

    return each


@every_attack
def test_a_guess_is_finite_and_has_the_shape_of_the_truth(name, attacked):
    for setup in setups_for(name):
        found = list(attacked(name, setup))
        assert found, f"skips every window of {setup.replace('_', ' ')}"
        for seen, guess, _ in found:
            assert guess.shape == (len(seen["scores"]), seen["passive_weights"].shape[1])
            assert np.isfinite(guess).all()


@split_attacks
def test_a_guess_about_labels_classes_or_rows_has_their_shape(name, own, split_run, split_cases):
    method = plugins.create("attack", name, own)
    check_target("split", method)
    for setup in ("clicks", "balanced", "images"):
        outcome = split_run(setup)
        known = of_setting(outcome.truth, "")
        for case, seen, rows in split_cases(outcome, method.target):
            if (method.classes and int(seen["classes"]) not in method.classes) or method.skip(view_of(name, seen)):
                continue
            for one in guess_of(method, "split", name, seen).values():
                if method.target == "dimension":
                    assert one >= 2, f"infer returned {one}; expected 2 classes at least"
                if method.target == "population":
                    summed = one.sum(axis=-1)
                    assert near(summed, 1, atol=1e-12), (
                        f"infer returned rows that add up to {summed.ravel()[0]:g}; expected 1"
                    )
                    assert one.min() >= 0, f"infer returned {one.min():g} as a probability; expected 0 at least"
                found = PROTOCOLS["split"].leak(one, known, case, rows)
                assert all(np.isfinite(value) for value in found.values())


@any_protocol
def test_the_same_view_gives_the_same_guess(protocol, name, own, seen_by):
    method, views = seen_by(protocol, name, own)
    for seen in views:
        with draws_with("view"):
            first, second = (guess_of(method, protocol, name, seen) for _ in range(2))
        assert alike(first, second), DIFFER.format("guesses", "the view")


@any_protocol
def test_a_guess_depends_on_what_the_attack_sees_alone(protocol, name, own, seen_by):
    method, views = seen_by(protocol, name, own)
    for seen in views:
        visible = {key: value for key, value in seen.items() if key in SEES[name]}
        hidden = {key: nothing_like(value) for key, value in seen.items() if key not in SEES[name]}
        first, second = (guess_of(method, protocol, name, seen, shown) for shown in (visible | hidden, seen))
        assert alike(first, second), DIFFER.format("guesses", "the view")


@any_protocol
def test_nothing_outside_the_threat_model_can_be_seen(protocol, name, own, seen_by, run, split_run):
    runs = {"vertical": lambda: run(setups_for(name)[0]), "split": lambda: split_run("clicks")}
    outcome = runs[protocol]() if protocol in runs else trained(protocol, name == "dsa")
    truth = of_setting(outcome.truth, "")
    everything = outcome.transcripts[""] | outcome.shared | truth | outcome.learned
    view = view_of(
        name, everything | {"labels": np.zeros(3), "truth": np.zeros(3)} | seen_by(protocol, name, own)[1][0]
    )
    outside = (everything.keys() | PROTOCOLS[protocol].shows | {"labels", "truth"} | HIDDEN[protocol]) - SEES[name]
    assert HIDDEN[protocol] <= outside
    for part in outside:
        for ask in (getattr, lambda view, part: part in view):
            with pytest.raises(OutsideThreatModel, match=rf"^attack\.{name}: asks for '{re.escape(part)}', outside"):
                ask(view, part)


@any_protocol
def test_what_is_seen_cannot_be_written(protocol, name, own, seen_by):
    view = view_of(name, seen_by(protocol, name, own)[1][0])
    for part in SEES[name] - AT_EACH_QUERY:
        assert part in view, f"sees {part!r}, which a small training does not show; {nearest(part, view._arrays)}"
        with pytest.raises(ValueError, match="read-only"):
            getattr(view, part)[...] = 0


@any_protocol
def test_what_the_protocol_does_not_show_is_missing_by_name(protocol, name, own):
    assert SEES[name], "its `sees` is empty; expected the parts of the view that it uses"
    part, view = min(SEES[name]), view_of(name, {})
    assert part not in view
    with pytest.raises(
        OutsideThreatModel, match=rf"^attack\.{name}: asks for '{part}', which this protocol does not show"
    ):
        getattr(view, part)


@any_protocol
def test_an_attack_sees_what_its_protocol_shows_and_guesses_what_it_has(protocol, name, own):
    shows = PROTOCOLS[protocol].shows
    for part in SEES[name]:
        assert part in shows, f"sees {part!r}, which the protocol {protocol} does not show; {nearest(part, shows)}"
    check_target(protocol, plugins.create("attack", name, own))


@every_attack
def test_skip_is_silent_or_a_sentence_with_the_reason(name, run, cases):
    for setup in ("one_feature", "two_classes", "three_classes"):
        for _, seen, _ in cases(run(setup)):
            check_silent_or_a_sentence(plugins.create("attack", name).skip(view_of(name, seen)))


@split_attacks
def test_split_s_skip_is_silent_or_a_sentence_with_the_reason(name, own, split_run, split_cases):
    method = plugins.create("attack", name, own)
    for _, seen, _ in split_cases(split_run("clicks"), method.target):
        few = {key: value for key, value in seen.items() if key not in ("first_gradients", "features")}
        few |= {key: seen[key][:0] for key in ("hints", "known") if key in seen}
        for shown in (seen, few):
            check_silent_or_a_sentence(method.skip(view_of(name, shown)))


def check_silent_or_a_sentence(reason):
    told = reason == "" or (isinstance(reason, str) and len(reason.split()) > 4 and ", here " in reason)
    assert told, f"skip returned {reason!r}; expected '' or such as 'for 2 classes, here there are 5'"


def test_the_black_box_attack_is_for_two_classes(run, cases):
    for _, seen, _ in cases(run("three_classes")):
        assert plugins.create("attack", "black_box").skip(view_of("black_box", seen)).endswith("and 3")


@pytest.mark.parametrize("name", [name for name in ATTACKS if NEEDS[name] <= {"passive"}])
def test_on_several_named_features_an_attack_skips_or_guesses_all(name, run, cases):
    for case, seen, rows in cases(run("named_features")):
        method, view = plugins.create("attack", name, SHORT.get(name)), view_of(name, seen)
        assert case["d"] == 2
        assert method.skip(view) or guess_of(method, "vertical", name, seen)[""].shape == (len(rows), 2)


def test_the_exact_center_is_for_few_features(run, cases):
    method = plugins.create("attack", "chebyshev_center", {"limit": 4})
    for case, seen, _ in cases(run("three_classes")):
        assert bool(method.skip(view_of("chebyshev_center", seen))) == (case["d"] > 4)


@pytest.mark.parametrize("setup", ["two_classes", "three_classes"])
@white_box
def test_solving_the_equations_beats_guessing(name, setup, attacked):
    ours, guessing = list(attacked(name, setup)), list(attacked("random_guess", setup))
    assert len(ours) == len(guessing)
    own, chance = (np.mean([error for *_, error in errors]) for errors in (ours, guessing))
    assert own < chance, f"errs by {own:.3g} on average, a random guess by {chance:.3g}; expected less"


@pytest.mark.parametrize("name", EXACT)
def test_fewer_features_than_classes_are_found_exactly(name, attacked):
    exact = [error for seen, _, error in attacked(name, "three_classes") if seen["passive_weights"].shape[1] == 1]
    assert len(exact) == 2
    assert max(exact) < 1e-6, f"errs by {max(exact):.3g} where the scores tell the features exactly"


@pytest.mark.parametrize("setup", ["two_classes", "three_classes"])
@pytest.mark.parametrize("name", [name for name in WHITE_BOX if "defense" not in SEES[name]])
def test_the_scheme_made_against_it_hurts_it(name, setup, attacked):
    before = np.mean([error for *_, error in attacked(name, setup)])
    after = np.mean([error for *_, error in attacked(name, setup, "pps", transform="minus_identity")])
    assert after > before, f"errs by {before:.3g} without a defense and by {after:.3g} under pps; expected more"


@pytest.mark.parametrize("name", BLIND)
def test_a_blind_guess_does_not_care_about_any_defense(name, attacked):
    for (_, before, _), (_, after, _) in zip(
        attacked(name, "two_classes"), attacked(name, "two_classes", "pps"), strict=True
    ):
        assert np.array_equal(before, after), "its guess is another under a defense of which it sees nothing"


@pytest.mark.parametrize("name", [name for name in ATTACKS if "solver" in plugins.method("attack", name).parameters])
def test_cvxpy_solves_the_same_problem(name, run, cases):
    for _, seen, _ in list(cases(run("three_classes")))[2:4]:
        few = seen | {key: seen[key][:3] for key in ("scores", "active_features")}
        guesses = [
            plugins.create("attack", name, {"solver": solver}).infer(view_of(name, few))
            for solver in ("exact", "cvxpy")
        ]
        np.testing.assert_allclose(*guesses, atol=1e-6)
