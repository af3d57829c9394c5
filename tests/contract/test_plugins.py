"""The contract of plugins: every file on disk is one method, readable without importing it."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from cutlayer.core.errors import InputError
from cutlayer.plan import code, plugins

PROJECT = Path(__file__).parents[2]
PLUGINS = [(kind, name) for kind in plugins.KINDS for name in plugins.names(kind)]
WITH_FIELDS = [(kind, name) for kind, name in PLUGINS if kind not in ("dataset", "protocol")]
PARAMETERS = [(kind, name, p) for kind, name in PLUGINS for p in plugins.method(kind, name).parameters]
NEEDED = {("defense", "marvell"): {"sum_kl": 0.25}}  # what a method does not do without
every_plugin = pytest.mark.parametrize(("kind", "name"), PLUGINS)
every_parameter = pytest.mark.parametrize(("kind", "name", "parameter"), PARAMETERS)


def choices(annotation: str) -> tuple:
    """The values of an annotation Literal[...]; none for others."""
    return ast.literal_eval(annotation[len("Literal[") : -1] + ",") if annotation.startswith("Literal[") else ()


def in_subprocess(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@every_plugin
def test_what_is_read_without_importing_is_what_importing_gives(kind, name):
    method = plugins.method(kind, name)
    cls = type(plugins.create(kind, name, NEEDED.get((kind, name))))
    assert cls.__name__ == method.class_name
    assert {key: getattr(cls, key) for key in method.constants} == method.constants
    if dataclasses.is_dataclass(cls):
        assert [field.name for field in dataclasses.fields(cls)] == list(method.parameters)


@every_plugin
def test_the_docstring_begins_with_the_name(kind, name):
    module = sys.modules[type(plugins.create(kind, name, NEEDED.get((kind, name)))).__module__]
    assert module.__doc__.startswith(f"{name}: ")


@pytest.mark.parametrize(("kind", "name"), WITH_FIELDS)
def test_a_method_is_a_frozen_dataclass(kind, name):
    method = plugins.create(kind, name, NEEDED.get((kind, name)))
    assert dataclasses.is_dataclass(method)
    with pytest.raises(dataclasses.FrozenInstanceError):
        method.anything = 1


@every_plugin
def test_every_default_is_allowed(kind, name):
    method = plugins.create(kind, name, NEEDED.get((kind, name)))
    plugins.check_parameters(kind, name, {p: getattr(method, p) for p in plugins.method(kind, name).parameters})


@every_parameter
def test_a_misspelt_parameter_is_refused_and_the_nearest_offered(kind, name, parameter):
    with pytest.raises(
        InputError, match=rf"^{kind}\.{name}: has no parameter '{parameter}x'; did you mean '{parameter}'"
    ):
        plugins.create(kind, name, {f"{parameter}x": 1})


@every_plugin
def test_an_unknown_method_names_the_nearest(kind, name):
    with pytest.raises(InputError, match=rf"^{kind}\.{name}_: there is no such {kind}; did you mean '{name}'"):
        plugins.create(kind, f"{name}_")


@every_parameter
def test_a_value_that_is_not_meant_is_refused(kind, name, parameter):
    annotation = plugins.method(kind, name).parameters[parameter]
    wrong = ["neither", True] if choices(annotation) else {"str": [1], "bool": [1, "yes"]}.get(annotation, ["1", True])
    for value in wrong:
        with pytest.raises(InputError, match=rf"^{kind}\.{name}: {parameter} = {value!r}; (allowed: |.* is meant)"):
            plugins.check_parameters(kind, name, {parameter: value})


@pytest.mark.parametrize("name", plugins.names("attack"))
def test_some_protocol_shows_what_an_attack_sees(name):
    sees = plugins.method("attack", name).constants.get("sees", set())
    assert any(sees <= plugins.method("protocol", p).constants["shows"] for p in plugins.names("protocol"))


@pytest.mark.parametrize("name", plugins.names("attack"))
def test_editing_an_attack_concerns_nothing_else(name):
    own = plugins.method("attack", name).path
    users = [file for file in plugins.ROOT.rglob("*.py") if str(own) in code.closure(file)]
    assert users == [own]
    assert str(own) in code.source("attack", name)


def test_the_digest_is_of_all_that_is_imported_and_of_nothing_else(tmp_path):
    for name, text in {
        "first": "from . import second",
        "second": "from .third import x",
        "third": "x = 1",
        "other": "",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)

    def digest():
        code.digest.cache_clear()
        code._checksum.cache_clear()
        return code.digest((str(tmp_path / "first.py"),))

    before = digest()
    for name in ("first", "other"):
        (tmp_path / f"{name}.py").write_text("from . import second  # edited")
    assert digest() == before
    (tmp_path / "third.py").write_text("x = 2")
    assert digest() != before
    (tmp_path / "third.py").write_text("x = 1")
    assert digest() == before


def test_every_import_of_the_library_is_one_that_closures_follow():
    for file in plugins.ROOT.rglob("*.py"):
        plain = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Import)]
        assert not [alias.name for node in plain for alias in node.names if alias.name.startswith("cutlayer")], file


def test_the_configuration_is_checked_without_a_numerical_library():
    code = """
import sys, yaml
from cutlayer import plugins
from cutlayer.plan import Plan
plan = Plan(yaml.safe_load(open("params.yaml")))
for kind in plugins.KINDS:
    for name in plugins.names(kind):
        code.source(kind, name)
assert plan.attacks and plan.setups
print(*sorted({"torch", "numpy", "scipy", "pandas", "sklearn", "cvxpy", "matplotlib"} & set(sys.modules)))
"""
    assert in_subprocess(code) == ""


@pytest.mark.parametrize(
    ("code", "uses"),
    [
        ("import torch", True),
        ("from torch.nn import functional", True),
        ("def late():\n    import torch.nn as nn", True),
        ("import torchless\nfrom . import torch", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch", False),
    ],
)
def test_code_that_imports_torch_is_told_from_code_that_names_it(tmp_path, code, uses):
    (tmp_path / "first.py").write_text("import numpy\n")
    (tmp_path / "second.py").write_text(f"import numpy\n{code}\n")
    assert code.uses_torch((str(tmp_path / "first.py"), str(tmp_path / "second.py"))) == uses
