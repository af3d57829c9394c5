"""The library imports and runs with what `pip install` of it alone brings."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cutlayer.plan import plugins

ROOT = Path(__file__).parents[2]
EXAMPLES = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/library.md").read_text(), flags=re.S | re.M)
PARTS = ("games", "gradient_noise", "metrics", "polytope", "theory")
OPTIONAL = {"cutlayer.polytope.with_cvxpy"}  # solver="cvxpy"
BLOCK = """
import sys

class Others:
    finders = [*sys.meta_path]

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names!r}:
            return None
        found = (finder.find_spec(name, path, target) for finder in self.finders)
        return next((spec for spec in found if spec), None)

sys.meta_path[:] = [Others()]
"""


def needs(name: str) -> Iterator[str]:
    """The distributions that one needs itself, as far as this platform has them."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        for line in metadata.requires(name) or ():
            each = Requirement(line)
            if not each.marker or each.marker.evaluate({"extra": ""}):
                yield canonicalize_name(each.name)


def brought() -> set[str]:
    """The distributions that the library alone brings."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found, new = set(), {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}
    while new:
        found |= new
        new = {needed for name in new for needed in needs(name)} - found
    return found


def run(code: str) -> str:
    """What Python prints where nothing else is installed."""
    own = brought() | {"cutlayer", "pip", "setuptools"}
    names = metadata.packages_distributions().items()
    others = {name for name, by in names if not own & {*map(canonicalize_name, by)}}
    assert {"cvxpy", "markdown_it", "osqp", "pandas", "requests", "snakemake"} <= others
    block = BLOCK.format(names=others - sys.stdlib_module_names)
    done = subprocess.run([sys.executable, "-c", block + code], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.split()[-1])
def test_the_examples_of_the_page_run(example):
    assert run(example)


def test_every_method_metric_and_theorem_can_be_imported():
    files = [file.relative_to(plugins.ROOT) for part in PARTS for file in (plugins.ROOT / part).rglob("*.py")]
    names = {".".join(("cutlayer", *file.with_suffix("").parts)).removesuffix(".__init__") for file in files}
    assert len(names - OPTIONAL) > 100
    run(f"import importlib\nfor name in {sorted(names - OPTIONAL)}: importlib.import_module(name)")


def test_the_general_solvers_need_their_extra():
    code = "import numpy as np; from cutlayer import polytope; polytope.project(np.eye(2), np.eye(2), 0.5, {})"
    run(code.format("'exact'"))
    with pytest.raises(AssertionError, match="No module named 'cvxpy'"):
        run(code.format("'cvxpy'"))
