"""The forecast: what games say of their work is what trainings do, and lines and counts are drawn as they should."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import yaml
from tests.params import params
from threadpoolctl import threadpool_info, threadpool_limits

from cutlayer.core.artifacts import map_arrays
from cutlayer.data import normalised
from cutlayer.data.normalised import read
from cutlayer.forecast import report, trials
from cutlayer.forecast.estimates import Estimate, estimates
from cutlayer.forecast.jobs import Job, jobs
from cutlayer.games.base.protocol import Task
from cutlayer.games.federated.data import participants
from cutlayer.games.federated.data import prepared as federated
from cutlayer.games.split.data import prepared as split
from cutlayer.games.split_server.data import prepared as split_server
from cutlayer.games.vertical.protocol import windows
from cutlayer.plan import plugins
from cutlayer.plan.plan import Plan
from cutlayer.plan.sweeps import settings_of
from cutlayer.stages import runs

ROOT = Path(__file__).parents[2]
CONFIG = params()
TINY = yaml.safe_load((ROOT / "tests/workflow/tiny.yaml").read_text())
BUNDLED = ["wine", "digits_vs_rest", "diabetes"]
SETUPS = ["wine", "digits_vs_rest", "diabetes_sex_poisoned", "diabetes_federated"]  # one a game
DEFENSES = {"wine": "scheme1", "digits_vs_rest": "dp", "diabetes_sex_poisoned": "adv", "diabetes_federated": "tappfl"}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with normalised bundled data."""
    folder = tmp_path_factory.mktemp("normalised")
    for name in BUNDLED:
        normalised.normalise(name, folder / "raw", None, False, ROOT / "data/sources.csv", folder)
    return folder


@pytest.fixture(scope="module")
def tried(data):
    """Trials at the scale of the tests of workflows, but for more epochs, and for small tables."""
    config = copy.deepcopy(CONFIG) | {"scale": "tiny", "papers": ["chebyshev"]}
    scale = copy.deepcopy(TINY["scales"]["tiny"])
    scale["split"]["epochs"] = 5
    scale["split_server"] |= {"epochs": 5, "batch": 8}
    scale["federated"] |= {"rounds": 4, "batch": 8}
    return trials.Trials(Plan(config | {"scales": config["scales"] | {"tiny": scale}}), data)


def task(tried, setup, settings=None):
    settings = settings or tried.plan.setups[setup]
    return Task(setup, "none", 0, read(tried.data, settings["dataset"])[0], settings, {})


def small(tried, setup):
    return tried.work(setup).small(tried.plan.setups[setup], tried.facts(setup), trials.STEPS)


@pytest.mark.parametrize("which", ["real", "small"])
def test_steps_are_those_that_a_training_takes(tried, which):
    for setup, steps in {
        "digits_vs_rest": of_split,
        "diabetes_sex_poisoned": of_server,
        "diabetes_federated": of_federated,
    }.items():
        own = tried.plan.setups[setup] if which == "real" else small(tried, setup)
        assert tried.work(setup).amounts(own, tried.facts(setup))["steps"] == steps(task(tried, setup, own)), setup


def of_split(one):
    return split(one).steps


def of_server(one):
    data = split_server(one)
    return sum(len(data.batches(one, epoch)) for epoch in range(one.settings["epochs"]))


def of_federated(one):
    data, settings = federated(one), one.settings
    device = int(participants(one, "round", 0)[0])
    return settings["rounds"] * sum(map(len, data.order(one, "round", 0, device)))


def test_windows_are_those_of_the_setup(tried):
    own = tried.plan.setups["wine"]
    expected = windows(13, own["windows"], None, [])
    assert tried.work("wine").amounts(own, tried.facts("wine")) == {"windows": len(expected)}


@pytest.mark.parametrize("setup", SETUPS)
def test_a_small_setup_has_less_of_everything(tried, setup):
    work, known, own = tried.work(setup), tried.facts(setup), tried.plan.setups[setup]
    few = small(tried, setup)
    for amount, real in work.amounts(own, known).items():
        assert work.amounts(few, known)[amount] <= real
        assert work.amounts(work.more(few, known, amount, 4), known)[amount] >= work.amounts(few, known)[amount]


@pytest.mark.parametrize("setup", SETUPS)
def test_bytes_of_a_run_are_told_from_a_small_one(tried, setup, tmp_path):
    defense = DEFENSES[setup]
    own, variant = tried.plan.setups[setup], tried.plan.defense(setup, defense)
    other = tried.plan.trained_by(setup, defense)
    trained = [tried.files(tried.small(other, "none"))[-1]] if other else []
    runs.execute(setup, defense, own, variant, tried.data, trained, tmp_path / "utility.csv", [0])
    for part, told in tried.bytes(setup, defense).items():
        real = sum(array.nbytes for array in map_arrays(tmp_path / f"seed0.{part}.safetensors")[0].values())
        assert told == pytest.approx(real, rel=0.1), part


def test_seconds_are_on_the_line_through_the_trials(tried, monkeypatch):
    """With a clock that counts 2 s a run, 3 s a setting and 0.5 s a step of each setting, the estimate is exact."""
    work, setup = tried.work("digits_vs_rest"), "digits_vs_rest"
    clock = [0.0]

    def execute(name, defense, settings, variant, data, trained, utility, seeds):
        steps = work.amounts(settings, tried.facts(setup))["steps"]
        clock[0] += len(seeds) * len(settings_of(variant)) * (3 + 0.5 * steps)
        REAL(name, defense, settings, variant, data, trained, utility, seeds)

    monkeypatch.setattr(trials.runs, "execute", execute)
    monkeypatch.setattr(trials.time, "process_time", lambda: clock[0])
    fresh = trials.Trials(tried.plan, tried.data)
    steps = work.amounts(tried.plan.setups[setup], tried.facts(setup))["steps"]
    settings = len(settings_of(tried.plan.defense(setup, "secdt_expansion")))
    assert settings > trials.TRIED
    assert fresh.seconds(setup, "secdt_expansion") == pytest.approx(settings * (3 + 0.5 * steps))


REAL = runs.execute


@pytest.mark.parametrize(("took", "found"), [((0.4, 0.3), 0.3), ((0.2, 0.3), 0.2), ((2.0,), 2.0)])
def test_what_takes_less_than_a_moment_is_timed_twice(monkeypatch, took, found):
    clock, left = [0.0], list(took)
    monkeypatch.setattr(trials.time, "process_time", lambda: clock[0])

    def call():
        clock[0] += left.pop(0)

    assert trials.timed(call) == pytest.approx(found)
    assert left == []


@pytest.mark.parametrize(("rows", "enough"), [(0, trials.STEPS), (20, trials.STEPS), (30000, 118)])
def test_a_trial_has_the_rows_that_each_of_its_steps_looks_at(rows, enough):
    assert trials.steps({"batch": 256}, [{"threshold": 0.1}, {"rows": rows}]) == enough


def test_a_step_that_looks_at_more_rows_is_tried_with_them(tried):
    few, many = (tried.small("diabetes_sex", name).settings["rows"] for name in ("tcpo", "tcpo_exact"))
    assert few < many


def test_an_attack_is_on_the_line_through_its_efforts(tried, monkeypatch):
    """1 s an attack and 0.25 s an epoch for each batch of known rows, of which the whole setup has more."""
    clock = [0.0]
    setup, work, known = (
        "diabetes_sex_poisoned",
        tried.work("diabetes_sex_poisoned"),
        tried.facts("diabetes_sex_poisoned"),
    )

    def score(setup, defense, protocol, attacks, seen, true, seeds, outputs):
        (attack,) = attacks.values()
        (rows,) = (len(map_arrays(file)[0]["shared|known_attribute"]) for file in seen)
        clock[0] += 1 + 0.25 * attack["epochs"] * -(-rows // attack["batch"])

    monkeypatch.setattr(trials.scores, "score", score)
    monkeypatch.setattr(work, "WIDER", 2)
    fresh = trials.Trials(tried.plan, tried.data)
    variant = {"use": "basic", "epochs": 30, "batch": 2}
    fresh.plan.attacks["basic"] = variant
    monkeypatch.setattr(trials.time, "process_time", lambda: clock[0])
    runs_of = (tried.plan.setups[setup], fresh.wider(setup, "none").settings, fresh.small(setup, "none").settings)
    whole, more, part = (work.cases(own, known, variant, "attribute") for own in runs_of)
    assert whole > more > part
    assert fresh.attacks(setup, "none", ["basic"]) == pytest.approx(1 + 0.25 * 30 * whole)


@pytest.mark.parametrize("only_there", [False, True])
def test_an_attack_on_a_defense_grows_as_on_no_defense(tried, monkeypatch, only_there):
    """A wider run of a defense is made only where the attack has nothing to do without it."""
    setup, grown = "diabetes_sex_poisoned", []
    clock = [0.0]

    def score(setup, defense, protocol, attacks, seen, true, seeds, outputs):
        cases = len(map_arrays(seen[0])[0]["shared|known_attribute"])
        grown.append((defense, cases))
        clock[0] += 0.001 if only_there and defense == "none" else 1 + 0.25 * cases * (1 + (defense != "none"))

    monkeypatch.setattr(trials.scores, "score", score)
    monkeypatch.setattr(trials.time, "process_time", lambda: clock[0])
    fresh = trials.Trials(tried.plan, tried.data)
    fresh.plan.attacks["basic"] = {"use": "basic", "epochs": 1, "batch": 1}
    seconds = fresh.attacks(setup, "adv", ["basic"])
    wide = {defense for defense, cases in grown if cases == max(cases for _, cases in grown)}
    assert wide == {"adv" if only_there else "none"}
    assert seconds > fresh.attacks(setup, "none", ["basic"])


def test_a_client_attacks_with_no_more_rows_than_it_sends(tried):
    setup = "diabetes_sex_poisoned"
    settings, known, work = tried.plan.setups[setup] | {"rows": 350}, tried.facts(setup), tried.work(setup)
    cases = [work.cases(settings, known, {"client": True, "most": most}, "training_attribute") for most in (30, 10**6)]
    assert cases == [30 * settings["epochs"], 100 * settings["epochs"]]  # it has 2 of 7 rows
    poison = work.cases(settings, known, {"client": False, "most": 30}, "training_attribute")
    assert poison == 11 * settings["epochs"]  # of 200 + 11 rows that train a share of 5%


SUMMARY = """output_file\tdate\trule\tlog-file(s)\tstatus\tplan
results/runs/mnist/dp/seed0.transcript.safetensors\t-\trun\t-\tmissing\tupdate pending
results/runs/mnist/dp/utility.csv\t-\trun\t-\tmissing\tupdate pending
results/runs/criteo/dp/seed1.transcript.safetensors\t-\trun_of_a_seed\t-\tmissing\tupdate pending
results/runs/criteo/dp/utility.seed1.csv\t-\trun_of_a_seed\t-\tok\tno update
results/runs/criteo/none/utility.csv\t-\tjoin\t-\tok\tno update
results/scores/mnist/dp/norm.csv\t-\tattacks_3\t-\tok\tno update
results/scores/mnist/dp/hint.csv\t-\tattacks_3\t-\tok\tno update
results/scores/criteo/dp/guess_k.seed2.csv\t-\tattack_guess_k_of_a_seed\t-\tmissing\tupdate pending
results/theory/marvell/mnist/dp.csv\t-\ttheory\t-\tok\tno update
results/matches/cifar10_animal/at.csv\t-\tmatch\t-\tok\tno update
results/runs/mnist/times.csv\t-\ttimes\t-\tok\tno update
results/cells/secdt/figure3.csv\t-\tcells\t-\tmissing\tupdate pending
results/ledger.csv\t-\tledger\t-\tok\tno update
"""


def test_jobs_are_those_of_the_summary():
    found, others = jobs(SUMMARY.splitlines())
    assert others == 1
    assert {(job.name, job.to_do) for job in found} == {
        ("run mnist dp", True), ("run criteo dp seed 1", True), ("attack mnist dp norm+hint", False),
        ("attack criteo dp guess_k seed 2", True), ("theory marvell mnist dp", False),
        ("match cifar10_animal at", False), ("times mnist", False),
    }  # fmt: skip


def test_the_report_counts_what_is_left_and_what_is_long(tried):
    made = [
        Estimate(Job("run", "wine", "none", to_do=True), 3600 * 14, 2e9, 1e9),
        Estimate(Job("run", "wine", "pps"), 3600, 1e9),
        Estimate(Job("attack", "wine", "none", attacks=["gia"], to_do=True), untried="no batch to train on"),
    ]
    config = CONFIG | {"scales": CONFIG["scales"] | {"tiny": TINY["scales"]["tiny"]}}
    text = report.text(tried.plan, config, made, 3, {"wine": "real", "bank": "sample"})
    assert "| all     | 3      | 2       | 7.00               | 7.50     | 4.0  |" in text
    assert "run wine none" in text
    assert "1 jobs take over 45 minutes" in text
    assert "attack wine none gia: no batch to train on" in text
    assert "Reduced: bank (the data are a sample), wine (" in text
    assert "- wine: 8 hours on 2 cores" in text


def test_what_cannot_be_tried_says_why(tried):
    (made,) = estimates([Job("run", "diabetes_sex_poisoned", "tcpo")], tried.plan, Unable())
    assert made.untried == "run.x: diverged; lower the rate"


class Unable:
    """Trials in which a training fails."""

    def seconds(self, setup, defense):
        raise plugins.InputError("run.x", "diverged", "lower the rate")


def test_a_trial_has_one_thread_as_a_job_has() -> None:
    seen: list[set[int]] = []
    with threadpool_limits(2):
        trials.timed(lambda: seen.append({library["num_threads"] for library in threadpool_info()}))
    assert seen == [{1}, {1}]
