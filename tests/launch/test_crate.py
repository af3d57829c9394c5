"""The crate of the reference runs: it has what Workflow Run RO-Crate requires, and what one lacks is said."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.params import params

import crate
from cutlayer.plan.plan import Plan

ROOT = Path(__file__).parents[2]
Graph = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("rocrate", reason="rocrate is not installed: requirements.lock has it")
    folder = tmp_path_factory.mktemp("crate")
    crate.write(ROOT, Plan(params()), "1.2.3", folder)
    return folder


def graph(folder: Path) -> Graph:
    return {entity["@id"]: entity for entity in json.loads((folder / crate.METADATA).read_text())["@graph"]}


def test_every_run_is_an_action_on_data_with_parameters_and_cells(made: Path) -> None:
    found = graph(made)
    with (ROOT / "reference/runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert [*crate.problems(made)] == []
    for row in rows:
        action = found[f"#run-{row['run']}-{row['paper']}"]
        given, cells = ([one["@id"] for one in action[key]] for key in ("object", "result"))
        values = {found[name]["name"]: found[name]["value"] for name in given if name.startswith("#")}
        assert values == {name: row[name] for name in crate.PARAMETERS}
        assert any(name.startswith("reference/data/") for name in given)
        assert {Path(name).parent.name for name in cells} == {row["paper"]}
    results = {one["@id"] for one in found["#judged"]["result"]}
    assert {"reference/claims.csv", "reference/ledger.md"} <= results
    published = {file.relative_to(ROOT).as_posix() for file in (ROOT / "reference").rglob("*") if file.is_file()}
    assert published == {name for name in found if name.startswith("reference/")}


def _without(name: str, key: str) -> Callable[[Graph], object]:
    return lambda found: found[name].pop(key)


def _with(name: str, key: str, value: Any) -> Callable[[Graph], object]:
    return lambda found: found[name].update({key: value})


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_without(crate.METADATA, "conformsTo"), f"{crate.METADATA} does not conform to {crate.SPECIFICATION}"),
        (_without("./", "license"), "the crate has no license"),
        (
            _with("./", "conformsTo", [{"@id": name} for name in [*crate.PROFILES][1:]]),
            "the crate does not conform to ",
        ),
        (_with("Snakefile", "@type", ["File", "SoftwareSourceCode"]), "the main entity is no "),
        (_without("Snakefile", "programmingLanguage"), "the workflow has no programmingLanguage"),
        (_with("#seeds", "@type", "PropertyValue"), "#seeds is no FormalParameter"),
        (_without("#scale-reference", "exampleOfWork"), "#scale-reference is the value of no parameter"),
        (_without("#judged", "result"), "#judged has no result"),
        (_with("#judged", "instrument", {"@id": "params.yaml"}), "#judged is no run of the workflow"),
        (_with("./", "mentions", []), "the crate does not mention #judged"),
        (_with("params.yaml", "sha256", "0"), "params.yaml is not there, or has another checksum"),
        (lambda found: found.pop("#developers"), "#judged has as agent #developers, which is not described"),
    ],
)
def test_what_a_crate_lacks_is_said(
    made: Path, tmp_path: Path, damage: Callable[[Graph], object], sentence: str
) -> None:
    shutil.copytree(made, tmp_path / "copy")
    found = graph(made)
    damage(found)
    (tmp_path / "copy" / crate.METADATA).write_text(json.dumps({"@graph": [*found.values()]}))
    assert any(line.startswith(sentence) for line in crate.problems(tmp_path / "copy"))


def test_a_crate_without_a_run_is_none(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "copy")
    left = [entity for entity in graph(made).values() if entity["@type"] != "CreateAction"]
    (tmp_path / "copy" / crate.METADATA).write_text(json.dumps({"@graph": left}))
    assert "no run is described: there is no CreateAction" in [*crate.problems(tmp_path / "copy")]
