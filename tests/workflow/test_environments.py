"""Environments: conda pins are those of the lock file and cover what jobs import; the lock has what is asked for."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml

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


def test_the_lock_has_all_that_is_asked_for() -> None:
    asked = [line for line in (ROOT / "requirements.in").read_text().splitlines() if re.match(r"\w", line)]
    missing = {name.lower() for name in asked} - set(pins())
    assert not missing


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
                    files |= {file for name in plugins.names(kind) for file in code.source(kind, name)}
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
    assert asked - {"urllib3"} <= has  # urllib3 is part of requests
    assert ("torch" in has) == ("torch" in asked)
