"""Commands and examples of the documents are run as they stand, or it is said which test runs the like, or why none."""

from __future__ import annotations

import ast
import contextlib
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from snakemake.cli import get_argument_parser

from cutlayer.plan import plugins
from cutlayer.plan.plan import Plan
from cutlayer.site import order
from tests.params import params

from .conftest import ROOT, Project, blocks, follow, set_up, untimed

with contextlib.chdir(ROOT):
    PAGES = order.texts()

DVC, SHARE, SLURM = "tests/dvc/test_stages.py", "tests/dvc/test_share.py", "tests/slurm/test_slurm.py"
REFERENCE, HERE = "tests/reference/test_reference.py", "tests/workflow/test_docs.py"
NEW = "test_a_new_defense_is_one_file_and_one_line_and_own_data_are_one_setup"
TESTED = {  # command -> the test that runs it, or what it runs, with other names and sizes
    "make results": f"{HERE}::test_the_first_hour_can_be_followed_literally",
    "make data": f"{HERE}::test_make_says_where_data_come_from_and_finds_no_damage",
    "make verify": f"{HERE}::test_make_says_where_data_come_from_and_finds_no_damage",
    "make results SCALE=reference PAPERS=marvell": f"{HERE}::test_a_larger_scale_of_one_paper_or_a_part_can_be_planned",
    "make results SCALE=printed SETUPS=mnist,fashion_mnist":
        f"{HERE}::test_a_larger_scale_of_one_paper_or_a_part_can_be_planned",
    "pytest tests/games -k few_digits": f"{HERE}::{NEW}",
    "snakemake --cores all results/scores/mine/none/rcc2.csv": f"{HERE}::{NEW}",
    "make report": "tests/workflow/test_dag.py::test_the_report_has_every_exhibit",
    "make publish": f"{REFERENCE}::test_another_paper_is_published_beside_the_first_one_in_the_order_of_the_params",
    "make judge": "tests/reference/test_reasons.py::test_judging_again_says_which_verdicts_change",
    "make compare": f"{REFERENCE}::test_comparing_finds_the_rows_whose_intervals_are_apart",
    "snakemake --workflow-profile profiles/slurm": f"{SLURM}::test_exhibits_of_all_papers_have_the_same_bytes",
    "make push": f"{SHARE}::test_a_clone_that_pulls_has_nothing_to_do",
    "git add dvc.lock .dvc/config": f"{SHARE}::test_a_clone_that_pulls_has_nothing_to_do",
    'git commit -m "Results, and where they are"': f"{SHARE}::test_a_clone_that_pulls_has_nothing_to_do",
    "dvc pull --allow-missing": f"{SHARE}::test_a_clone_that_pulls_has_nothing_to_do",
    "make settle": f"{SHARE}::test_a_clone_that_pulls_has_nothing_to_do",
    "dvc remote add -d store <folder or bucket>": f"{SHARE}::test_a_clone_that_pulls_has_nothing_to_do",
    "dvc add data/raw/mine/mine.csv": f"{SHARE}::test_original_files_that_are_here_are_pushed_and_pulled",
    "dvc repro": f"{DVC}::test_repro_after_snakemake_makes_nothing_again",
    "dvc metrics show": f"{DVC}::test_metrics_are_a_dozen_numbers_with_the_provenance_of_their_data",
    "dvc metrics diff HEAD~1": f"{DVC}::test_the_difference_of_metrics_to_a_commit",
    "dvc exp run -S scale=reference": f"{DVC}::test_an_edited_attack_and_a_changed_variant_run_what_depends_on_them",
    "dvc plots show": f"{DVC}::test_plots_show_pictures_and_curves",
}  # fmt: skip
NOT_TESTED = {  # command -> why no test runs it
    "git clone <this repository> cutlayer": "only its user knows the address",
    "cd cutlayer": "as above",
    "make setup": "it installs packages from the network: every `make test` in a fresh clone does",
    "make kick": ".ci/run does, and tests/reference/test_kick.py tests what it says",
    "docker build --tag cutlayer .": "tests/container does, by buildah",
    "docker run --rm cutlayer make kick": "as above",
    "make test": "a test of all tests has no end: .github/workflows/test.yml runs it",
    "make plan SCALE=reference": "tests/plan/test_cost.py tests what it says",
    "make seconds": "tests/reference/test_seconds.py tests what it writes",
    "make show SETUP=criteo SCALE=reference": "tests/plan/test_sizes.py tests what it says",
    "dvc repro --force data": "as `dvc repro`, which is tested; --force is DVC's own",
}
NOT_NAMED = {  # option of Snakemake that a test gives and no page names -> why
    "--configfile": "the scale of tests",
    "--dry-run": "pages have it as -n",
    "--forcerun": "a damaged original file is looked at, without making all that follows from it",
    "--list": "names of rules, which dry runs have, too",
    "--lint": "it runs nothing, and must change nothing",
    "--max-checksum-file-size": "a smaller limit stands for larger files, a larger one for fewer",
    "--nolock": "a second Snakemake must be refused even so",
    "--summary": "it runs nothing, and must change nothing",
}
FIRST_HOUR = blocks("docs/first_hour.md", "sh")[1:-1]  # without the clone; more to run is planned
FOLLOWED = [*FIRST_HOUR, *blocks("docs/your_own.md", "sh")]  # the latter in test_your_own.py


def commands(block: str) -> list[str]:
    """The commands of a block, each on one line, without comments."""
    found, open_ = [], ""
    for line in block.splitlines():
        open_ = f"{open_}\n{line}" if open_ else line
        with contextlib.suppress(ValueError):  # a quotation that goes on
            if shlex.split(open_, comments=True):
                found.append(re.sub(r"\s+# .*", "", open_).strip())
            open_ = ""
    return found


ALL = {command for page in PAGES for block in blocks(page, "sh") for command in commands(block)}
STEPS = {command for block in FOLLOWED for command in commands(block)}
PLANNED = sorted(command for command in ALL - STEPS - TESTED.keys() if command.startswith("snakemake "))


@pytest.fixture
def checkout(edited: Project) -> Project:
    """A finished copy that is set up as by `make results`."""
    set_up(edited)
    return edited


@pytest.fixture
def tiny(checkout: Project, tmp_path: Path) -> dict[str, str]:
    """An environment in which Snakemake, however it is called, runs at the scale of tests."""
    profile = tmp_path / "profile/config.yaml"
    profile.parent.mkdir()
    profile.write_text(yaml.safe_dump({"configfile": [str(checkout.folder / "tests/workflow/tiny.yaml")]}))
    return {"SNAKEMAKE_PROFILE": str(profile.parent)}


def test_every_command_is_run_by_a_test_or_says_why_not() -> None:
    known = STEPS | TESTED.keys() | NOT_TESTED.keys() | {*PLANNED}
    assert not ALL - known, "name the test that runs it, in TESTED, or why there is none, in NOT_TESTED"
    assert not (TESTED.keys() | NOT_TESTED.keys()) - ALL, "no page has these commands"
    assert not TESTED.keys() & NOT_TESTED.keys()


@pytest.mark.parametrize("test", sorted({*TESTED.values()}))
def test_the_tests_that_are_named_exist(test: str) -> None:
    file, _, name = test.partition("::")
    there = ast.walk(ast.parse((ROOT / file).read_text()))
    assert name in {node.name for node in there if isinstance(node, ast.FunctionDef)}


def test_tests_give_snakemake_no_option_that_no_page_names() -> None:
    """Else what a reader does as documented need not run, though its test does."""
    known = {option for action in get_argument_parser()._actions for option in action.option_strings}
    tests = [file for folder in ("dvc", "slurm", "workflow") for file in (ROOT / "tests" / folder).glob("*.py")]
    given = {option for file in tests for option in re.findall(r"[\"'](--[\w-]+)[\"',=]", file.read_text())} & known
    named = "\n".join((ROOT / page).read_text() for page in (*PAGES, "Makefile", "dvc.yaml"))
    unnamed = {option for option in given if not re.search(rf"{option}\b", named)}
    assert unnamed <= NOT_NAMED.keys(), "name them in a page, or say why in NOT_NAMED"
    assert NOT_NAMED.keys() <= given


def test_every_target_of_make_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([\w.]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    for page in PAGES:
        assert set(re.findall(r"`make (\w+)", (ROOT / page).read_text())) <= targets, page


def test_commands_end_where_their_quotations_do() -> None:
    block = "make a   # why\n# nothing\npython -c \"\nprint('#')\n\"\n. b\n"
    assert commands(block) == ["make a", "python -c \"\nprint('#')\n\"", ". b"]


def test_every_command_of_snakemake_can_be_planned(checkout: Project, tiny: dict[str, str]) -> None:
    for command in PLANNED:
        follow(f". .venv/bin/activate\n{command} -n --quiet", checkout, checkout.folder, **tiny)


def test_a_larger_scale_of_one_paper_or_a_part_can_be_planned(checkout: Project, tiny: dict[str, str]) -> None:
    told = {
        "PAPERS=marvell": """--config scale='reference' "papers=["'marvell'"]"\n""",
        "SETUPS=bank,diabetes_sex": """scale='printed' "only={""setups: ["'bank,diabetes_sex'"], ""}"\n""",
    }
    for page in (one for one in ALL if one.startswith("make results SCALE")):
        command = page.replace("mnist,fashion_mnist", "bank,diabetes_sex")  # which the tests' project has
        said = follow(f"{command} 2>&1", checkout, checkout.folder, **tiny, ARGS="--dry-run")
        assert " ".join(told[command.split()[-1]].split()) in " ".join(said.split())


def test_make_says_where_data_come_from_and_finds_no_damage(checkout: Project, tiny: dict[str, str]) -> None:
    assert "| wine" in follow("make data", checkout, checkout.folder, **tiny)
    assert "0 damaged files" in follow("make verify", checkout, checkout.folder, **tiny)


def test_the_first_hour_can_be_followed_literally(checkout: Project, tiny: dict[str, str], finished: Project) -> None:
    def step(block: str) -> str:
        return follow(f". .venv/bin/activate\n{block}", checkout, checkout.folder, **tiny)

    defense = "workflow/cutlayer/games/split/defenses/max_norm.py"
    git = ["git", "-c", "user.name=tests", "-c", "user.email=tests@localhost"]
    for action in (["init", "--quiet"], ["add", defense], ["commit", "--quiet", "--message", "as cloned"]):
        subprocess.run([*git, *action], cwd=checkout.folder, check=True)
    results, counts, change, plan, one_exhibit, cost, undo = FIRST_HOUR
    assert "Open results/site/index.html" in step(results)
    assert "undecided (reduced)" in step(counts)
    step(change)
    assert set(re.findall(r"output: results/runs/\w+/(\w+)/", step(plan))) == {"max_norm"}
    changed = [line for line in step(one_exhibit).splitlines() if line[:1] in "<>"]
    assert changed
    assert all("max_norm" in line for line in changed)
    assert step(cost).startswith("s\t")
    step(undo)
    assert untimed(checkout) == untimed(finished)
    assert "Nothing to be done" in step(f"{plan} 2>&1")


def test_a_new_defense_is_one_file_and_one_line_and_own_data_are_one_setup(
    checkout: Project, tiny: dict[str, str]
) -> None:
    page = "docs/add_a_method.md"
    (file,), (line,), (block,) = (blocks(page, language) for language in ("python", "yaml", "sh"))
    (checkout.folder / "workflow/cutlayer/games/vertical/defenses/few_digits.py").write_text(file)
    checkout.replace("params.yaml", "\ndefenses:\n", f"\ndefenses:\n{line}")
    contract, compare = commands(block)
    assert "passed" in follow(f". .venv/bin/activate\n{contract}", checkout, checkout.folder)
    planned = follow(f". .venv/bin/activate\n{compare} -n", checkout, checkout.folder, **tiny)
    assert set(re.findall(r"output: results/runs/\w+/(\w+)/", planned)) == {"few_digits"}
    (line,), (scores,) = (blocks("docs/add_a_dataset.md", language) for language in ("yaml", "sh"))
    line = line.replace("dataset: mine", "dataset: wine")
    checkout.replace("params.yaml", "  # With an L2 penalty", f"{line}  # With an L2 penalty")
    follow(f". .venv/bin/activate\n{compare}\n{scores}", checkout, checkout.folder, **tiny)
    assert (checkout.folder / "results/scores/mine/none/rcc2.csv").stat().st_size > 100
    table = (checkout.folder / "results/exhibits/chebyshev/comparison.csv").read_text()
    assert "few_digits,digits=2" in table


def test_a_comparison_has_every_defense_and_attack_that_applies() -> None:
    plan = Plan(params(), ROOT / "workflow")
    for paper in plan.papers:
        exhibit = plan.papers[paper]["exhibits"].get("comparison")
        if not exhibit:
            continue
        game = plan.setups[exhibit["setups"][0]]["protocol"]
        left_out = {row.get("defense", row.get("attack")) for row in exhibit["inapplicable"] if row["skipped"]}
        for kind, variants in (("defense", plan.defenses), ("attack", plan.attacks)):
            applying = {name for name, own in variants.items() if game in plugins.games(kind, own["use"])}
            if paper != "marvell" or kind == "defense":  # that of gradients is of three attacks
                assert applying == {*exhibit[f"{kind}s"]} | (applying & left_out)
