"""The reference of the library: every public name with its signature, its docstring and where it stands."""

from __future__ import annotations

import ast
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from cutlayer import gradient_noise, pareto, polytope
from cutlayer.site import api

from .links import read

NAMED = {(page.name, name.name) for page in api.pages() for module in page.modules for name in module.names}


def page_of(site: Path, name: str) -> str:
    return unescape((site / f"api/{name}.html").read_text())


@pytest.mark.parametrize("package", [polytope, gradient_noise])
def test_a_package_shows_what_it_lists_and_nothing_else(package) -> None:
    name = package.__name__.rpartition(".")[2]
    assert {one for page, one in NAMED if page == name} == set(package.__all__)


def test_a_module_shows_its_public_names_and_no_others() -> None:
    own = {name for name, what in vars(pareto).items() if getattr(what, "__module__", "") == pareto.__name__}
    assert {one for page, one in NAMED if page == "pareto"} == {name for name in own if not name.startswith("_")}


def test_every_module_of_a_named_package_is_there() -> None:
    for package in ("metrics", "theory"):
        there = {f"{package}/{file.stem}" for file in (api.ROOT / package).glob("[!_]*.py")}
        assert {*api.PAGES[package]} == there - {"metrics/declared"}  # what metrics mean to the ledger


def test_a_name_has_its_signature_its_docstring_and_its_place(site: Path) -> None:
    said = page_of(site, "polytope")
    assert "project(A: ArrayLike, b: ArrayLike, target: ArrayLike, solver: Solver = 'exact') -> Floats" in said
    assert "A is m x d, b is N x m" in said
    assert "InputError for wrong shapes" in said
    lines = (api.ROOT / "polytope/projection.py").read_text().splitlines()
    line = 1 + next(place for place, text in enumerate(lines) if text.startswith("def project("))
    assert f"workflow/cutlayer/polytope/projection.py, line {line}" in said


def test_a_contract_has_its_hooks_and_the_comments_of_its_fields(site: Path) -> None:
    said = page_of(site, "split")
    for hook in ("begin", "outputs", "auc_bound", "soft_labels", "backward", "to_class_probabilities"):
        assert f'id="cutlayer.games.split.defense.Defense.{hook}"' in said
    assert "how often each example's gradient is released: the epochs" in said
    assert "Raises FailedRun" in page_of(site, "games")


def test_all_names_are_listed_first_and_every_page_is_reached_from_anywhere(site: Path) -> None:
    pages = read(site)
    assert {f"api/{name}.html" for name in ("index", *api.PAGES)} <= set(pages)
    index = (site / "api/index.html").read_text()
    assert all(f">{name}</code></a>" in index for _, name in NAMED)
    assert all(any(link.endswith("api/index.html") for link in page.links) for page in pages.values())


def test_a_signature_is_as_in_the_source() -> None:
    (node,) = ast.parse("def f(self, a, /, b: int = 1, *c: int, d, e: str = 'x', **g: int) -> None: ...").body
    assert isinstance(node, ast.FunctionDef)
    assert api._signature(node, "f", " -> None") == "f(a, /, b: int = 1, *c: int, d, e: str = 'x', **g: int) -> None"


def test_all_that_is_read_is_among_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    read_text, seen = Path.read_text, set()

    def noted(self: Path, *arguments: object, **options: object) -> str:
        seen.add(self)
        return read_text(self, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", noted)
    assert [*api.pages()]
    assert seen <= {*api.files()}


def test_nothing_is_imported_to_read_it() -> None:
    code = (
        "import sys; from cutlayer.site import api; list(api.pages()); assert not {'torch', 'numpy'} & {*sys.modules}"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=api.ROOT.parent)
