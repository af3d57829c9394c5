"""The contract of plugins: every file on disk is one method, readable without importing it."""

from __future__ import annotations

import ast
import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
from tests.params import read

from cutlayer.core.errors import InputError, nearest
from cutlayer.plan import code, plugins
from cutlayer.plan.plan import Plan

PROJECT = Path(__file__).parents[2]
PLUGINS = [(kind, name) for kind in plugins.KINDS for name in plugins.names(kind)]
PARAMETERS = [(kind, name, p) for kind, name in PLUGINS for p in plugins.method(kind, name).parameters]
NEEDED = {("defense", "marvell"): {"sum_kl": 0.25}}  # what a method does not do without


def choices(annotation: str) -> tuple:
    """The values of an annotation Literal[...]; none for others."""
    return ast.literal_eval(annotation[len("Literal[") : -1] + ",") if annotation.startswith("Literal[") else ()


def in_subprocess(text: str) -> str:
    done = subprocess.run([sys.executable, "-c", text], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("kind", "name"), PLUGINS)
def test_a_method_is_what_its_source_says(kind, name):
    """What is read without importing is what importing gives; its defaults are allowed; it is documented and frozen."""
    method, own = plugins.method(kind, name), plugins.create(kind, name, NEEDED.get((kind, name)))
    cls, text = type(own), sys.modules[type(own).__module__].__doc__ or ""
    assert cls.__name__ == method.class_name, f"{cls.__name__} stands for {method.class_name}; expected one class"
    for key, value in method.constants.items():
        found = getattr(cls, key)
        assert found == value, f"{key} is {found!r} when it is imported and {value!r} in its source; expected a literal"
    begins = f"begins with {text.partition(' ')[0]!r}" if text else "is missing"
    assert text.startswith(f"{name}: "), f"the file's docstring {begins}; expected '{name}: ' and a sentence"
    if kind in ("dataset", "protocol"):
        return
    fields, parameters = [field.name for field in dataclasses.fields(cls)], list(method.parameters)
    assert fields == parameters, f"its fields are {fields} when it is imported and {parameters} in its source"
    plugins.check_parameters(kind, name, {p: getattr(own, p) for p in method.parameters})
    assert cls.__dataclass_params__.frozen, "is not frozen; expected @dataclass(frozen=True)"


# One parameter of each type that there is: what refuses is one function for all.
TYPICAL = {plugins.method(kind, name).parameters[p]: (kind, name, p) for kind, name, p in reversed(PARAMETERS)}


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_an_unknown_method_names_the_nearest(kind):
    name = plugins.names(kind)[0]
    with pytest.raises(InputError, match=rf"^{kind}\.{name}_: there is no such {kind}; did you mean '{name}'"):
        plugins.create(kind, f"{name}_")


@pytest.mark.parametrize("annotation", TYPICAL)
def test_a_misspelt_parameter_is_refused_and_the_nearest_offered(annotation):
    kind, name, parameter = TYPICAL[annotation]
    wrong = rf"^{kind}\.{name}: has no parameter '{parameter}x'; did you mean '{parameter}'"
    with pytest.raises(InputError, match=wrong):
        plugins.create(kind, name, {f"{parameter}x": 1})


@pytest.mark.parametrize("annotation", TYPICAL)
def test_a_value_that_is_not_meant_is_refused(annotation):
    kind, name, parameter = TYPICAL[annotation]
    wrong = (
        [value for value in ("neither", True) if value not in choices(annotation)]
        if choices(annotation)
        else {"str": [1], "bool": [1, "yes"]}.get(annotation, ["1", True])
    )
    for value in wrong:
        with pytest.raises(InputError, match=rf"^{kind}\.{name}: {parameter} = {value!r}; (allowed: |expected )"):
            plugins.check_parameters(kind, name, {parameter: value})


@pytest.mark.parametrize("name", plugins.names("attack"))
def test_some_protocol_shows_what_an_attack_sees(name):
    constants = plugins.method("attack", name).constants
    sees, target, games = constants["sees"], constants["target"], sorted(constants["games"])
    protocols = [plugins.method("protocol", game).constants for game in games]
    for part in sorted(sees):
        game, shown = games[0], set.union(*(protocol["shows"] for protocol in protocols))
        assert part in shown, f"sees {part!r}, which the protocol {game} does not show; {nearest(part, shown)}"
    assert any(sees <= protocol["shows"] for protocol in protocols), f"no game shows all of {', '.join(sorted(sees))}"
    targets = set.union(*(protocol["targets"] for protocol in protocols))
    assert target in targets, f"its target is {target!r}; expected {' or '.join(sorted(targets))}"


@pytest.mark.parametrize("name", plugins.names("attack"))
def test_editing_an_attack_concerns_nothing_else(name):
    own = plugins.method("attack", name).path
    users = [file for file in plugins.ROOT.rglob("*.py") if str(own) in code.closure(file)]
    assert users == [own] * own.is_relative_to(plugins.ROOT)


def test_the_digest_is_of_all_that_is_imported_and_of_nothing_else(tmp_path):
    for name, text in {
        "first": "from . import second",
        "second": "from .third import x",
        "third": "x = 1",
        "other": "",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)

    def digest():
        for cached in (code.digest, code.checksum, code._sha256):
            cached.cache_clear()
        own, imports, files = code.digest((str(tmp_path / "first.py"),), (str(tmp_path / "read.csv"),)).split(", ")
        return {"first": own, "third": imports, "read": files}

    (tmp_path / "read.csv").write_text("x")
    before = digest()
    (tmp_path / "first.py").write_text('"""Edited."""\nfrom . import second  # edited')
    (tmp_path / "other.py").write_text("from . import second")
    assert digest() == before
    for name, content in {"first.py": "from . import second\nx = 2", "third.py": "x = 2", "read.csv": "y"}.items():
        was = (tmp_path / name).read_text()
        (tmp_path / name).write_text(content)
        now = digest()
        assert {key for key in now if now[key] != before[key]} == {Path(name).stem}
        (tmp_path / name).write_text(was)
    assert digest() == before


@pytest.mark.parametrize(
    "text",
    [
        '"""Other."""\nclass A:\n    """Other."""\n    def f(self):\n        """Other."""\n        return "a"',
        "class A:  # a comment\n\n    def f(self): return (\n        'a')",
    ],
)
def test_words_and_layout_are_no_code(tmp_path: Path, text: str):
    files = {
        "as_it_was.py": "class A:\n    def f(self):\n        return 'a'\n",
        "said.py": text,
        "other.py": text + " + ''",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    was, said, other = (code.checksum(tmp_path / name) for name in files)
    assert was == said != other


def test_every_import_of_the_library_is_one_that_closures_follow():
    for file in plugins.ROOT.rglob("*.py"):
        plain = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Import)]
        assert not [alias.name for node in plain for alias in node.names if alias.name.startswith("cutlayer")], file


def test_the_configuration_is_checked_without_a_numerical_library():
    text = """
import sys, yaml
from cutlayer.plan import code, plugins
from cutlayer.plan.plan import Plan
plan = Plan(yaml.safe_load(open("params.yaml")))
for kind in plugins.KINDS:
    for name in plugins.names(kind):
        code.closure(plugins.method(kind, name).path)
assert plan.attacks and plan.setups
print(*sorted({"torch", "numpy", "scipy", "pandas", "sklearn", "cvxpy", "matplotlib"} & set(sys.modules)))
"""
    assert in_subprocess(text) == ""


@pytest.mark.parametrize(
    ("text", "uses"),
    [
        ("import torch", True),
        ("from torch.nn import functional", True),
        ("def late():\n    import torch.nn as nn", True),
        ("import torchless\nfrom . import torch", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch", False),
    ],
)
def test_code_that_imports_torch_is_told_from_code_that_names_it(tmp_path, text, uses):
    (tmp_path / "first.py").write_text("import numpy\n")
    (tmp_path / "second.py").write_text(f"import numpy\n{text}\n")
    assert code.uses_torch((str(tmp_path / "first.py"), str(tmp_path / "second.py"))) == uses


def test_the_code_of_a_papers_numbers_is_that_of_its_methods_and_what_they_import(monkeypatch):
    """And not what judges or shows them."""
    seen = []
    monkeypatch.setattr(code, "checksum", lambda file: seen.append(Path(file).name) or str(file))
    plan = Plan(read(PROJECT / "params.yaml") | {"papers": ["marvell"]})
    before = code.of_numbers(plan, "marvell")
    assert {"marvell.py", "iso.py", "hint.py", "protocol.py", "criteo.py", "wide_deep.py", "seeds.py"} <= set(seen)
    assert not {"tcpo.py", "basic.py", "claims.py", "frontier.py"} & set(seen)
    monkeypatch.setattr(code, "checksum", lambda file: str(file) + "another" * (Path(file).name == "iso.py"))
    assert code.of_numbers(plan, "marvell") != before
