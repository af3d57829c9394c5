"""Bad input is refused when the DAG is built, with file and key, before anything runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from cutlayer.core.errors import InputError
from cutlayer.plan.plan import Plan
from launch import environment

from .conftest import ROOT, Project, replaced

PARAMS = "params.yaml"
PAPER = "workflow/papers/chebyshev/paper.yaml"
CASES = {
    "unknown method": (PARAMS, "rcc2: { use: rcc2 }", "rcc2: { use: rcc3 }", ["params.yaml attacks.rcc2", "did you mean 'rcc"]),
    "unknown defense": (
        PARAMS, "use: class_label", "use: clas_label", ["params.yaml defenses.class_label", "did you mean 'class_label'"],
    ),
    "misspelt parameter": (
        PARAMS, "gia: { use: gia, start: zero }", "gia: { use: gia, stert: zero }",
        ["params.yaml attacks.gia", "no parameter 'stert'", "did you mean 'start'"],
    ),
    "value out of range": (
        PARAMS, "gia: { use: gia, start: zero }", "gia: { use: gia, start: zeros }",
        ["params.yaml attacks.gia", "start = 'zeros'", "'zero', 'half', 'uniform'"],
    ),
    "wrong type in a sweep": (
        PARAMS, "sweep: { rest: [0.1,", "sweep: { rest: [many,", ["params.yaml defenses.class_label", "rest = 'many'", "float"],
    ),
    "number beyond its limits": (
        PARAMS, "sweep: { rest: [0.1,", "sweep: { rest: [0.7,", ["params.yaml defenses.class_label", "rest = 0.7", "at most 0.49"],
    ),
    "number that YAML takes for text": (
        PARAMS, "sweep: { rest: [0.1,", "sweep: { rest: [1e-1,", ["params.yaml defenses.class_label", "rest = '1e-1'; expected float: write 0.1"],
    ),
    "number that is not finite": (
        PARAMS, "rate: 0.0001", "rate: .inf", ["params.yaml scales.quick.split.rate", "inf; should be a finite number"],
    ),
    "number that YAML takes for text, of a protocol": (
        PARAMS, "batch: 256", "batch: 2.5e2", ["params.yaml scales.quick.split.batch", "'2.5e2'; should be a valid integer: write 250"],
    ),
    "key twice": (
        PARAMS, "wine: { <<: *plain, dataset: wine }", "wine: { <<: *plain, dataset: wine }\n  wine: { <<: *plain, dataset: bank }",
        ["params.yaml: has the key 'wine' twice, in lines ", " and "],
    ),
    "unknown scale": (PARAMS, "scale: quick", "scale: quik", ["params.yaml", "no scale 'quik'", "did you mean 'quick'"]),
    "d out of range": (
        PARAMS, "sizes: [2, 3, 4, 5]", "sizes: [2, 30]", ["params.yaml setups.bank_small.windows.sizes", "d = 30", "1 to 19"],
    ),
    "unknown feature": (
        PARAMS, "passive: [emp.var.rate]", "passive: [emp.var]", ["params.yaml setups.bank_one_feature.passive", "emp.var.rate"],
    ),
    "setup without a needed key": (
        PARAMS, "bank_one_feature: { <<: *plain, model_of: bank, passive: [emp.var.rate] }",
        "bank_one_feature: { <<: *plain, model_of: bank }",
        ["params.yaml", "setup bank_one_feature has no 'passive', which attack.black_box needs", "figure7"],
    ),
    "attribute the dataset lacks": (
        PARAMS, "wine: { <<: *plain, dataset: wine }", "wine: { <<: *plain, dataset: wine, sensitive: sex }",
        ["params.yaml setups.wine.sensitive", "no attribute 'sex'"],
    ),
    "partition the dataset lacks": (
        PARAMS, "partition: part #", "partition: parts #",
        ["params.yaml setups.celeba_male.partition", "no attribute 'parts'", "did you mean 'part'"],
    ),
    "excluded column the dataset lacks": (
        PARAMS, "adult_sex: &clients\n", "adult_sex: &clients\n    excluded: [relation]\n",
        ["params.yaml setups.adult_sex.excluded", "no feature 'relation'", "did you mean 'relationship'"],
    ),
    "views that cannot be noisy": (
        PARAMS, "adult_sex: &clients\n", "adult_sex: &clients\n    noisy_views: inference\n",
        ["params.yaml setups.adult_sex.noisy_views", "'inference'", "'none', 'training' or 'all'"],
    ),
    "unknown key of a setup": (
        PARAMS, "wine: { <<: *plain, dataset: wine }", "wine: { <<: *plain, dataset: wine, windws: { sizes: half } }",
        ["params.yaml setups.wine", "'windws'", "did you mean 'windows'"],
    ),
    "unknown dataset": (
        PARAMS, "wine: { <<: *plain, dataset: wine }", "wine: { <<: *plain, dataset: win }", ["params.yaml setups.wine", "did you mean 'wine'"],
    ),
    "unknown key": (PARAMS, "\nsetups:\n", "\nsetups: []\nsetups_before:\n", ["params.yaml: ", "'setups_before'", "did you mean 'setups'"]),
    "list in place of a mapping": (PARAMS, "cluster: { minutes: 2, small_jobs: true }", "cluster: [2]", ["params.yaml scales.quick.cluster", "[2]", "mapping"]),
    "text in place of a number, for a protocol": (PARAMS, "batch: 256", "batch: many", ["params.yaml scales.quick.split.batch", "'many'", "integer"]),
    "text in place of a number": (PARAMS, "seeds: 3", "seeds: three", ["params.yaml scales.quick.seeds", "'three'", "integer"]),
    "unknown paper": (PARAMS, "papers: [chebyshev,", "papers: [chebishev,", ["params.yaml papers", "did you mean 'chebyshev'"]),
    "variant an exhibit asks for": (
        PARAMS, "  black_box: { use: black_box, case: same_sign }\n", "",
        ["papers/chebyshev/paper.yaml exhibits.figure7.attacks", "no attack 'black_box'"],
    ),
    "unknown drawing": (PAPER, "draw: { use: curves }", "draw: { use: curve }", ["paper.yaml exhibits.", "did you mean 'curves'"]),
    "target that the protocol does not have": (
        "workflow/cutlayer/games/split/attack.py", '= "labels"', '= "lables"',
        ["paper.yaml exhibits.", "guesses 'lables'", "did you mean 'labels'"],
    ),
    "main claim that there is not": (
        PAPER, "(black_box_converges)", "(black_box_converge)",
        ["papers/chebyshev/paper.yaml main.2.claims", "did you mean 'black_box_converges'"],
    ),
    "claim on no exhibit": (
        PAPER, "check: largest(rcc2_over_half_star_excess) in theorems", "check: largest(rcc2_over_half_star_excess) in theorem",
        ["paper.yaml claims.theorem1_rcc2.check", "did you mean 'theorems'"],
    ),
}  # fmt: skip
# Through Snakemake itself, one of each kind of file: the library is read from where it lies, so a change of it is among them.
WHOLE = {"misspelt parameter", "key twice", "target that the protocol does not have", "claim on no exhibit"}


def changed(folder: Path, case: str) -> str:
    """What is wrong with the configuration of a folder after the change of a case; empty if nothing is."""
    file, old, new, _ = CASES[case]
    replaced(folder / file, old, new)
    try:
        Plan(yaml.safe_load((folder / PARAMS).read_text()), folder / "workflow")
    except InputError as error:
        return str(error)
    return ""


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    """A copy of all that is configuration."""
    shutil.copy(ROOT / PARAMS, tmp_path)
    for part in ("papers",):
        shutil.copytree(ROOT / "workflow" / part, tmp_path / "workflow" / part)
    return tmp_path


@pytest.mark.parametrize("case", sorted(CASES.keys() - WHOLE))
def test_refused_when_the_configuration_is_read(case: str, configuration: Path) -> None:
    """As the Snakefile reads it: `Plan` is all that it asks."""
    said = changed(configuration, case)
    for words in CASES[case][-1]:
        assert words in said


def test_what_is_not_changed_is_not_refused(configuration: Path) -> None:
    Plan(yaml.safe_load((configuration / PARAMS).read_text()), configuration / "workflow")


@pytest.mark.parametrize("case", sorted(WHOLE))
def test_refused_when_the_dag_is_built(case: str, project: Project) -> None:
    file, old, new, said = CASES[case]
    project.replace(file, old, new)
    done = project.snakemake("--dry-run", tiny=False)
    assert done.returncode != 0
    output = done.stdout + done.stderr
    for words in said:
        assert words in output, f"{words!r} not in {output[-800:]}"
    assert "Traceback" not in output


def test_a_misspelt_name_in_a_file_that_is_asked_for_is_a_sentence(project: Project) -> None:
    done = project.snakemake("--dry-run", "results/exhibits/marvell/figure2.png", tiny=False)
    assert done.returncode != 0
    sentence = "results/exhibits/marvell/figure2.png: there is no exhibit 'figure2'; did you mean 'figure2a'?"
    assert sentence in done.stderr + done.stdout
    assert "Traceback" not in done.stderr + done.stdout


def test_without_stand_ins_missing_data_stop_the_run_by_name(project: Project) -> None:
    project.mirror = ""
    done = project.snakemake("data/normalised/bank.json", "--config", "stand_ins=false")
    assert done.returncode != 0
    assert "dataset.bank: is not available" in done.stderr + done.stdout
    assert not list((project.folder / "data/normalised").glob("bank*"))


def test_a_mirror_that_is_not_there_is_refused(project: Project) -> None:
    project.mirror = "/no/such"
    done = project.snakemake("data/normalised/bank.json", "--dry-run")
    assert done.returncode != 0
    assert "mirror./no/such: there is no such folder" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr + done.stdout


def test_a_mirror_may_be_in_the_user_s_home(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CUTLAYER_MIRROR", "PYTHONPATH", *environment.THREADS):
        monkeypatch.setenv(name, "")  # and put back
    monkeypatch.setenv("HOME", "/home/of/somebody")
    assert environment.prepare("~/mirror") == "/home/of/somebody/mirror"


def test_nan_in_training_stops_the_run_and_writes_no_result(project: Project) -> None:
    project.replace("tests/workflow/tiny.yaml", "epochs: 2,", "epochs: 2, rate: 1.0e+300,")
    done = project.snakemake("results/runs/wine/none/utility.csv")
    assert done.returncode != 0
    assert "run.wine/none/seed0: loss is not finite in epoch 1" in done.stderr + done.stdout
    assert not list((project.folder / "results/runs/wine").rglob("*.safetensors"))
