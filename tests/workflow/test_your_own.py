"""Methods outside the tree: docs/your_own.md followed literally, from an empty folder."""

from __future__ import annotations

import os
import re

import pytest
import yaml

from cutlayer.plan.checks import merged

from .conftest import Project, blocks, follow, set_up

BLOCKS = blocks("docs/your_own.md", "sh")


@pytest.fixture
def checkout(project: Project) -> Project:
    """A copy that is set up, at the scale of tests."""
    set_up(project)
    files = [project.folder / name for name in ("params.yaml", "tests/workflow/tiny.yaml")]
    params, tiny = (yaml.safe_load(file.read_text()) for file in files)
    files[0].write_text(yaml.safe_dump(merged(params, tiny), sort_keys=False))
    return project


def inventory(checkout: Project) -> dict[str, bytes]:
    """The files of the tree, but for what git ignores."""
    ignored = ("results", "logs", "data", ".snakemake", ".venv")
    files = [file for file in checkout.folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    inside = {str(file.relative_to(checkout.folder)): file for file in files}
    return {name: file.read_bytes() for name, file in inside.items() if not name.startswith(ignored)}


def stamps(checkout: Project, but: str) -> dict[str, int]:
    """When each file of the runs and scores was written, but for those of some defense or attack."""
    files = [file for kind in ("runs", "scores") for file in (checkout.folder / "results" / kind).rglob("*.csv")]
    return {str(file): file.stat().st_mtime_ns for file in files if but not in str(file)}


def test_the_text_can_be_followed_literally(checkout: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, before = tmp_path_factory.mktemp("empty"), inventory(checkout)
    defense, attack, dataset, several = BLOCKS
    said = follow(defense, checkout, folder)
    assert re.search(r"^even_noise: .* on digits_vs_rest\.$", said, flags=re.M)
    assert "results/exhibits/tried/even_noise.png" in said
    table = (checkout.folder / "results/exhibits/tried/even_noise.csv").read_text()
    assert {"strength=0.1", "strength=1.0"} <= set(re.findall(r"strength=[\d.]+", table))
    trained = stamps(checkout, "even_noise")
    assert re.search(r"^largest_entry: .* of \d+ schemes", follow(attack, checkout, folder), flags=re.M)
    before_it = {name: at for name, at in stamps(checkout, "largest_entry").items() if name in trained}
    assert before_it == trained
    assert re.search(r"^cells: .* on cells\.$", follow(dataset, checkout, folder), flags=re.M)
    again = follow(several, checkout, folder)
    assert re.search(r"^even_noise: .* on digits_vs_rest\.$", again, flags=re.M)
    assert (checkout.folder / "results/runs/digits_vs_rest/little_noise/utility.csv").is_file()
    mine = folder / "methods/even_noise.py"
    mine.write_text(mine.read_text().replace("strength: float = 1.0", "strength: float = 2.0"))
    where = [f"methods={mine.parent}", "trying={setups: [digits_vs_rest]}"]
    planned = checkout.snakemake("--dry-run", "tried", "--config", *where, tiny=False).stdout
    assert set(re.findall(r"output: results/runs/\w+/(\w+)/", planned)) == {"little_noise"}
    assert inventory(checkout) == before
    assert os.listdir(checkout.folder / "results/exhibits") == ["tried"]
