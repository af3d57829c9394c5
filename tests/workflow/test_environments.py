"""Environments: conda pins are those of the lock file and cover what jobs import; the user's own settings stay out."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from itertools import chain
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from cutlayer.plan import code, plugins

from .conftest import ROOT


def pins() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return {name.lower().replace("_", "-"): version for name, version in (line.split("==") for line in lines)}


@pytest.mark.parametrize("file", sorted((ROOT / "envs").glob("*.yaml")), ids=lambda file: file.name)
def test_conda_pins_equal_the_lock(file) -> None:
    dependencies = yaml.safe_load(file.read_text())["dependencies"]
    (own,) = (entry["pip"] for entry in dependencies if isinstance(entry, dict))
    for pin in own:
        name, version = pin.split("==")
        assert pins()[name] == version


def test_the_lock_has_all_that_is_needed_in_versions_that_are_allowed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *chain.from_iterable(project["optional-dependencies"].values())]
    for each in map(Requirement, needed):
        if each.name != project["name"]:
            assert any(bound.operator == ">=" for bound in each.specifier), f"{each} has no lower bound"
            assert pins()[each.name.lower()] in each.specifier


def imported(files: set[str]) -> Iterator[str]:
    """The third-party packages that library files import, early or late, by the names they are installed by."""
    installed = packages_distributions()  # reads the files of every package
    for file in files:
        for node in ast.walk(ast.parse(Path(file).read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            for name in {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"cutlayer", "launch"}:
                yield installed[name][0].lower()


def body_of(function: str) -> str:
    """A function of rules/code.smk and those that it calls, as text."""
    (body,) = re.findall(rf"^def {function}\(.*?(?=^def |\Z)", (ROOT / "rules/code.smk").read_text(), flags=re.S | re.M)
    return body + "".join(map(body_of, re.findall(r"(\w+_code)\(wildcards", body.partition("\n")[2])))


def code_of(environment: str) -> set[str]:
    """The library files behind the rules that use an environment."""
    texts = [file.read_text() for file in sorted((ROOT / "rules").glob("*.smk"))]
    rule = re.compile(r"^ *rule(?: \w+)?:\n(.*?)(?=^ *rule(?: \w+)?:|^ *use|\Z)", flags=re.S | re.M)
    files: set[str] = set()
    for body in [body for text in texts for body in rule.findall(text)]:
        if f"envs/{environment}.yaml" in body:
            script = ROOT / "workflow" / re.search(r'"\.\./workflow/(scripts/\w+\.py)"', body)[1]
            files |= set(code.closure(script))
            for text_of_code in map(body_of, re.findall(r"code=(\w+),", body)):
                for kind in re.findall(r'source\(\s*"(\w+)"', text_of_code):
                    files |= set(code.closure(*(plugins.method(kind, name).path for name in plugins.names(kind))))
                for name in re.findall(r'"(\w+(?:/[\w{}]+)*\.py)"', text_of_code):
                    files |= set(code.closure(*plugins.ROOT.glob(re.sub(r"{\w+}", "*", name))))
    return files


@pytest.mark.parametrize("environment", ["cpu", "gpu"])
def test_an_environment_has_what_its_jobs_import(environment: str) -> None:
    (own,) = (
        entry["pip"]
        for entry in yaml.safe_load((ROOT / f"envs/{environment}.yaml").read_text())["dependencies"]
        if isinstance(entry, dict)
    )
    has, asked = {pin.split("==")[0].lower() for pin in own}, set(imported(code_of(environment)))
    assert {"numpy", "pandas"} <= asked
    assert asked - {"urllib3", "markupsafe"} <= has  # urllib3 is part of requests, markupsafe of jinja2
    assert ("torch" in has) == ("torch" in asked)


DRAWN = """
import hashlib, pathlib, sys
from launch import environment
environment.prepare("")
import pandas as pd
from cutlayer.exhibits import _figure, _grid
files = {kind: pathlib.Path(sys.argv[1]) / f"drawn.{kind}" for kind in ("png", "pdf")}
figure, (axes,) = _figure.panels(1)
axes.plot([1, 2], [3, 4])
_figure.finish(figure, "a title", "a foot", {"a line": axes.lines[0]}, files)
print(*[hashlib.sha256(file.read_bytes()).hexdigest() for file in files.values()])
_grid.picture(pd.DataFrame({"a": ["1"]}, index=["row"]), "a title", "a foot", files)
print(*[hashlib.sha256(file.read_bytes()).hexdigest() for file in files.values()])
"""


def drawn(folder: Path, **settings: str) -> str:
    """The checksums of a figure and a table, drawn with these settings in the user's environment."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MPL", "MATPLOTLIB"))}
    return subprocess.check_output(
        [sys.executable, "-c", DRAWN, folder], env=own | {"PYTHONPATH": str(ROOT / "workflow")} | settings, text=True
    )


def test_matplotlib_settings_of_the_user_change_no_picture(tmp_path: Path) -> None:
    """A notebook names a backend that only it has; a matplotlibrc may name other fonts, or a TeX that is not here."""
    (tmp_path / "matplotlibrc").write_text("font.family: serif\ntext.usetex: True\naxes.facecolor: red\n")
    plain = drawn(tmp_path)
    assert drawn(tmp_path, MPLBACKEND="module://a_notebook.s_own", MATPLOTLIBRC=str(tmp_path)) == plain


def test_jobs_read_and_write_utf_8() -> None:
    job = "from launch import environment; import os, subprocess, sys; environment.prepare(''); "
    job += "subprocess.run([sys.executable, '-c', 'import locale; print(locale.getpreferredencoding())'])"
    own = os.environ | {"PYTHONPATH": str(ROOT / "workflow"), "PYTHONUTF8": "0", "LC_ALL": "POSIX"}
    said = subprocess.check_output([sys.executable, "-c", job], env=own | {"PYTHONCOERCECLOCALE": "0"}, text=True)
    assert said.strip().lower() == "utf-8"


def test_make_brings_what_a_shell_lacks_and_leaves_out_what_is_another_programs(tmp_path: Path) -> None:
    """A container's user without a name and with a home that is no folder; a cluster's module with another numpy."""
    shell = {"PATH": os.environ["PATH"], "HOME": os.devnull, "PYTHONPATH": "/a/module", "LC_ALL": "POSIX"}
    show = f"include {ROOT / 'Makefile'}\nshell_of_tests:\n\t@env\n"
    said = subprocess.check_output(
        ["make", "-f", "-", "shell_of_tests"], input=show, cwd=tmp_path, env=shell, text=True
    )
    found = dict(line.partition("=")[::2] for line in said.splitlines())
    assert found["USER"]
    assert found["XDG_CACHE_HOME"] == f"{tmp_path}/.snakemake/cache"
    assert found["MPLCONFIGDIR"].startswith(found["XDG_CACHE_HOME"])
    assert (found["PYTHONPATH"], found["PYTHONUTF8"]) == (f"{tmp_path}/workflow", "1")
    own = subprocess.check_output(
        ["make", "-f", "-", "shell_of_tests"],
        input=show,
        cwd=tmp_path,
        env=shell | {"XDG_CACHE_HOME": str(tmp_path)},
        text=True,
    )
    assert f"XDG_CACHE_HOME={tmp_path}\n" in own
    assert "MPLCONFIGDIR" not in own
