"""The README's examples, as printed there."""

from __future__ import annotations

import re

import yaml

from cutlayer.plan import plugins
from cutlayer.plan.plan import Plan

from .conftest import ROOT, Project


def blocks(language: str) -> list[str]:
    """The README's code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)


def test_a_new_defense_is_one_file_and_one_line_and_own_data_are_one_setup(edited: Project) -> None:
    (file,) = (block for block in blocks("python") if block.startswith('"""rounding:'))
    (line,) = (block for block in blocks("yaml") if "rounding" in block)
    (edited.folder / "workflow/cutlayer/games/vertical/defenses/rounding.py").write_text(file)
    edited.replace("params.yaml", "\ndefenses:\n", f"\ndefenses:\n{line}")
    target = "results/exhibits/chebyshev/comparison.png"
    planned = edited.run("--dry-run", target)
    assert set(re.findall(r"output: results/runs/\w+/(\w+)/", planned)) == {"rounding"}
    (line,) = (block for block in blocks("yaml") if "mine" in block)
    line = line.replace("dataset: mine", "dataset: wine")
    edited.replace("params.yaml", "  # With an L2 penalty", f"{line}  # With an L2 penalty")
    scores = "results/scores/mine/none/rcc2.csv"
    edited.run(target, scores, "--quiet")
    assert (edited.folder / scores).stat().st_size > 100
    table = (edited.folder / "results/exhibits/chebyshev/comparison.csv").read_text()
    assert "rounding,digits=2" in table


def test_a_comparison_has_every_defense_and_attack_that_applies() -> None:
    plan = Plan(yaml.safe_load((ROOT / "params.yaml").read_text()), ROOT / "workflow")
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


def test_the_library_example_runs(capsys) -> None:
    (example,) = (block for block in blocks("python") if "from cutlayer import polytope" in block)
    exec(compile(example, "README.md", "exec"), {})
    measured, closed_form = map(float, capsys.readouterr().out.split())
    assert 0 < measured <= closed_form


def test_every_linked_file_exists() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", (ROOT / "README.md").read_text())
    assert links
    for link in links:
        assert (ROOT / link).exists(), link
