"""The reference runs as a Workflow Run RO-Crate: https://www.researchobject.org/workflow-run-crate/.

Each row of `reference/runs.csv` is an action: of what data, with which parameters, by which software, to which cells.
One more judges all cells. Every file is there with its checksum; `data/sources.csv` has those of the original files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cutlayer.core.errors import InputError, few
from cutlayer.plan.plan import Plan
from cutlayer.reference import published

METADATA = "ro-crate-metadata.json"
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
PROFILES = {  # address, with the version -> name
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
TERMS = "https://w3id.org/ro/terms/workflow-run/context"  # where checksums are among the words
WORKFLOW = {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
PARAMETERS = {
    "paper": ("Text", "The paper whose exhibits are regenerated; its key in params.yaml is `papers`."),
    "scale": ("Text", "The sizes of all setups, a key of `scales` in params.yaml."),
    "seeds": ("Integer", "The number of seeds."),
}
SOURCES = ("params.yaml", "data/sources.csv")
CODE = ("README.md", "requirements.lock", "rules/*.smk")
FORMATS = {
    ".csv": "text/csv", ".gz": "application/gzip", ".json": "application/json", ".md": "text/markdown",
    ".png": "image/png", ".yaml": "application/yaml",
}  # fmt: skip
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
NOTE = "params.yaml is that of the release."
LICENSE = "https://spdx.org/licenses/Apache-2.0"
Entity = Mapping[str, Any]


def write(root: Path, plan: Plan, version: str, folder: Path) -> None:
    """Write the crate of a checkout's `reference/` into an empty folder.

    Raises:
        InputError: what was written is not what the profiles require.

    """
    from rocrate.rocrate import ROCrate  # for releases alone

    crate = ROCrate(version=SPECIFICATION.rpartition("/")[2])
    crate.metadata.extra_contexts.append(TERMS)
    _describe(crate, version)
    files = {path: _file(crate, root, path) for path in _files(root)}
    files["README.md"]["about"] = crate.root_dataset
    workflow = _workflow(crate, root, files)
    for paper, rows in published.runs(root / published.FOLDER).items():
        used = {plan.setups[setup]["dataset"] for e in plan.papers[paper]["exhibits"].values() for setup in e["setups"]}
        data = [
            files[path]
            for path in (*SOURCES, *(f"reference/data/{name}.json" for name in sorted(used)))
            if path in files
        ]
        cells = [entity for path, entity in files.items() if path.startswith(f"reference/cells/{paper}/")]
        for row in rows:
            values = [_value(crate, name, row) for name in PARAMETERS]
            name = f"Run {row['run']}: {paper} at scale {row['scale']}"
            said = f"The rows of these cells whose column run is {row['run']}. Commit {row['commit']}; {row['hours']}"
            said += f" hours on {row['cores']} cores of {row['machine']}; {row['versions']}. {NOTE}"
            _action(crate, workflow, f"#run-{row['run']}-{paper}", name, said, row["date"], [*data, *values], cells)
    cells = [entity for path, entity in files.items() if path.startswith("reference/cells/")]
    rest = [entity for path, entity in files.items() if path.startswith("reference/") and entity not in cells]
    said, now = "Verdicts and exhibits from the cells of all runs.", datetime.now(UTC).isoformat(timespec="seconds")
    _action(crate, workflow, "#judged", "Verdicts", said, now, cells, rest)
    crate.write(folder)
    if found := [*problems(folder)]:
        raise InputError("release.crate", few(found, "; "), "expected a Workflow Run RO-Crate")


def _files(root: Path) -> list[str]:
    """The files of the crate but the Snakefile, sorted."""
    kept = [path for pattern in CODE for path in root.glob(pattern)] + [root / path for path in SOURCES]
    kept += [path for path in (root / published.FOLDER).rglob("*") if path.is_file()]
    return sorted(path.relative_to(root).as_posix() for path in kept)


def _describe(crate: Any, version: str) -> None:
    from rocrate.model.contextentity import ContextEntity

    crate.name = f"cutlayer {version}: its reference runs"
    crate.description = "Tables and figures of papers on privacy in split and vertical federated learning, regenerated."
    named = {LICENSE: "Apache License 2.0"} | PROFILES
    for address, name in named.items():
        own = {"@type": "CreativeWork", "name": name}
        own |= {"version": address.rpartition("/")[2]} if address in PROFILES else {}
        crate.add(ContextEntity(crate, address, properties=own))
    crate.license = crate.get(LICENSE)
    crate.add(
        ContextEntity(crate, "#developers", properties={"@type": "Organization", "name": "The cutlayer developers"})
    )


def _file(crate: Any, root: Path, path: str) -> Any:
    kind = FORMATS.get(Path(path).suffix, "text/plain")
    said = {"name": path, "sha256": _sha256(root / path), "encodingFormat": kind}
    return crate.add_file(root / path, path, properties=said, record_size=True)


def _workflow(crate: Any, root: Path, files: Mapping[str, Any]) -> Any:
    """The main entity, with its parts, parameters and software."""
    from rocrate.model.contextentity import ContextEntity

    pins = dict(line.split("==") for line in (root / "requirements.lock").read_text(encoding="utf-8").splitlines())
    said = {"name": "cutlayer", "sha256": _sha256(root / "Snakefile"), "license": {"@id": LICENSE}}
    options = {"main": True, "lang": "snakemake", "lang_version": pins["snakemake"], "properties": said}
    workflow = crate.add_workflow(root / "Snakefile", "Snakefile", **options)
    workflow["conformsTo"] = {"@id": BIOSCHEMAS}
    workflow["creator"] = crate.get("#developers")
    workflow["hasPart"] = [entity for path, entity in files.items() if path.startswith("rules/")]
    workflow["input"] = [
        crate.add_formal_parameter(name, kind, f"#{name}", said, valueRequired=True)
        for name, (kind, said) in PARAMETERS.items()
    ]
    rows = [row for own in published.runs(root / published.FOLDER).values() for row in own]
    software = sorted({name for row in rows for name in row["versions"].split(", ")})
    workflow["softwareRequirements"] = [
        crate.add(ContextEntity(crate, f"#{'-'.join(each.split())}", properties=_software(*each.split())))
        for each in software
    ]
    crate.root_dataset["conformsTo"] = [crate.get(profile) for profile in PROFILES]
    return workflow


def _software(name: str, version: str) -> dict[str, str]:
    return {"@type": "SoftwareApplication", "name": name, "softwareVersion": version}


def _value(crate: Any, name: str, row: Mapping[str, str]) -> Any:
    """The value of a parameter in a run."""
    from rocrate.model.contextentity import ContextEntity

    said = {"@type": "PropertyValue", "name": name, "value": row[name], "exampleOfWork": {"@id": f"#{name}"}}
    return crate.add(ContextEntity(crate, f"#{name}-{row[name]}", properties=said))


def _action(
    crate: Any, workflow: Any, place: str, name: str, said: str, end: str, given: Iterable[Any], made: Iterable[Any]
) -> None:
    own = {"@type": "CreateAction", "name": name, "description": said, "endTime": end}
    action = crate.add_action(workflow, place, [*given], [*made], own)
    action["agent"] = crate.get("#developers")
    crate.root_dataset.append_to("mentions", action)


def problems(folder: Path) -> Iterator[str]:
    """What a crate lacks of what RO-Crate and the profiles require, a sentence each."""
    graph = {entity["@id"]: entity for entity in json.loads((folder / METADATA).read_text(encoding="utf-8"))["@graph"]}
    root, descriptor = graph.get("./", {}), graph.get(METADATA, {})
    if SPECIFICATION not in _ids(descriptor, "conformsTo"):
        yield f"{METADATA} does not conform to {SPECIFICATION}"
    yield from _lacking("the crate", root, ("name", "description", "license", "datePublished", "hasPart"))
    for profile in PROFILES.keys() - _ids(root, "conformsTo"):
        yield f"the crate does not conform to {profile}"
    main = next(iter(_ids(root, "mainEntity")), "")
    yield from _of_workflow(graph, graph.get(main, {}))
    actions = [entity for entity in graph.values() if "CreateAction" in _types(entity)]
    if not actions:
        yield "no run is described: there is no CreateAction"
    for action in actions:
        yield from _lacking(action["@id"], action, ("name", "endTime", "agent", "object", "result"))
        if _ids(action, "instrument") != {main}:
            yield f"{action['@id']} is no run of the workflow"
        if action["@id"] not in _ids(root, "mentions"):
            yield f"the crate does not mention {action['@id']}"
    for entity in graph.values():
        yield from _of_entity(graph, entity, folder)


def _of_workflow(graph: Mapping[str, Entity], workflow: Entity) -> Iterator[str]:
    if not _types(workflow) >= WORKFLOW:
        yield f"the main entity is no {', '.join(sorted(WORKFLOW))}"
    yield from _lacking("the workflow", workflow, ("name", "programmingLanguage", "license", "creator"))
    for name in _ids(workflow, "input"):
        if "FormalParameter" not in _types(graph.get(name, {})):
            yield f"{name} is no FormalParameter"
    for entity in graph.values():
        if "PropertyValue" in _types(entity) and not _ids(entity, "exampleOfWork") & _ids(workflow, "input"):
            yield f"{entity['@id']} is the value of no parameter"


def _of_entity(graph: Mapping[str, Entity], entity: Entity, folder: Path) -> Iterator[str]:
    place = folder / entity["@id"]
    if "File" in _types(entity) and not (place.is_file() and _sha256(place) == entity.get("sha256")):
        yield f"{entity['@id']} is not there, or has another checksum"
    for key in entity:
        for name in _ids(entity, key) - graph.keys():
            if "://" not in name:
                yield f"{entity['@id']} has as {key} {name}, which is not described"


def _lacking(what: str, entity: Entity, keys: Iterable[str]) -> Iterator[str]:
    yield from (f"{what} has no {key}" for key in keys if not entity.get(key))


def _types(entity: Entity) -> set[str]:
    kinds = entity.get("@type", [])
    return {kinds} if isinstance(kinds, str) else {*kinds}


def _ids(entity: Entity, key: str) -> set[str]:
    """The entities that a property refers to."""
    values = entity.get(key, [])
    return {
        one["@id"]
        for one in (values if isinstance(values, list) else [values])
        if isinstance(one, dict) and "@id" in one
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
