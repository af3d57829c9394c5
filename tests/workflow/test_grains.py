"""Jobs of one seed on one core make the files that jobs of all seeds on two make; what only passes through is gone."""

from __future__ import annotations

from .conftest import Project, replaced

CUT = ["wine", "digits_vs_rest", "diabetes_sex", "diabetes_federated"]
PASSING = "digits_vs_rest"


def arrays(project: Project) -> dict[str, bytes]:
    files = (project.folder / "results/runs").rglob("*.safetensors")
    return {str(file.relative_to(project.folder)): file.read_bytes() for file in files}


def test_results_depend_neither_on_the_grain_nor_on_the_cores(small: Project, undisturbed: Project) -> None:
    scale = f"    seeds: 2\n    one_seed_a_job: {CUT}\n    temporary: [{PASSING}]\n"
    replaced(small.folder / "tests/workflow/tiny.yaml", "    seeds: 2\n", scale)
    small.run("--quiet", cores=1)
    assert len(small.csv()) > 20
    assert small.csv() == undisturbed.csv()
    assert small.files("html") == undisturbed.files("html")
    left = {name for name in arrays(undisturbed) if not (f"/{PASSING}/" in name and "transcript" in name)}
    assert arrays(small) == {name: content for name, content in arrays(undisturbed).items() if name in left}
    assert len(left) < len(arrays(undisturbed))
    assert not list((small.folder / "results").rglob("*.seed*.csv"))
    assert "Nothing to be done" in small.run("--dry-run")
