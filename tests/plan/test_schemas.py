"""The JSON schemas that editors are given: current, named by every file, and they refuse what the models refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cutlayer.core import yamls
from cutlayer.plan import schemas

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "workflow/schemas"
FILES = [ROOT / "params.yaml", *sorted(ROOT.glob("workflow/papers/*/paper.yaml"))]


def content(file: Path) -> Any:
    """As JSON has it, in which keys are text."""
    return json.loads(json.dumps(yamls.read(file)))


def valid(schema: dict[str, Any], given: Any) -> bool:
    return jsonschema.Draft202012Validator(schema).is_valid(given)


@pytest.mark.parametrize("name", schemas.texts())
def test_it_is_what_the_models_say_now(name):
    written = (FOLDER / name).read_text(encoding="utf-8")
    assert written == schemas.texts()[name], "python -m cutlayer.plan.schemas workflow/schemas"
    jsonschema.Draft202012Validator.check_schema(json.loads(written))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_file_names_its_schema_in_its_first_line_and_is_valid(file):
    word, _, place = file.read_text(encoding="utf-8").splitlines()[0].partition("$schema=")
    assert word == "# yaml-language-server: "
    assert (file.parent / place).resolve() == FOLDER / f"{file.stem}.schema.json"
    jsonschema.validate(content(file), json.loads((file.parent / place).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("change", "accepted"),
    [
        ({}, True),
        ({"scalee": "quick"}, False),
        ({"stand_ins": "yes"}, False),
        ({"mirror": None}, False),
        ({"scales": {"own": {"seeds": 0}}}, False),
        ({"scales": {"own": {"seeds": 1, "split": {"epochs": 3}}}}, True),
        ({"scales": {"own": {"seeds": 1, "split": {"epochs": 0}}}}, False),
        ({"attacks": {"mine": {"width": 3}}}, False),
    ],
)
def test_params_are_checked(change, accepted):
    assert valid(schemas.params(), content(ROOT / "params.yaml") | change) == accepted


@pytest.mark.parametrize(
    ("claim", "accepted"),
    [
        ({"says": "So. (Section 1)", "across": "any"}, True),
        ({"says": "So. (Section 1)", "across": "some"}, False),
        ({"says": "So. (Section 1)", "across": "{across}", "for": {"across": ["any", "mean"]}}, True),
        ({"check": 3}, False),
    ],
)
def test_claims_are_checked_as_they_are_written(claim, accepted):
    assert valid(schemas.paper(), {"claims": {"one": claim}}) == accepted


def test_an_editor_can_complete_the_keys_of_an_exhibit():
    keys = {"title", "caption", "shows", "draw", "for", "like", "choose", "worst"}
    assert keys <= schemas.paper()["$defs"]["Exhibit"]["properties"].keys()
