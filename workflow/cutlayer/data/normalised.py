"""Normalised data: written from a dataset's original files or a stand-in, read by runs."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cutlayer.core.artifacts import REMEDY, checksum, map_arrays, read_arrays, read_json, write_arrays, write_json
from cutlayer.core.errors import InputError, few
from cutlayer.data.datasets._growing import growing
from cutlayer.data.datasets.base import MAPPED, Dataset, Table
from cutlayer.plan import plugins

from .acquire import Acquired, Unavailable, acquire, recorded
from .archives import DAMAGED
from .sources import STAND_IN


def normalise(
    dataset: str,
    raw: str | Path,
    mirror: str | Path | None,
    stand_ins: bool,
    sources: str | Path,
    folder: str | Path,
    record: str | Path | None = None,
) -> None:
    """Write `folder`/<dataset>.safetensors and then <dataset>.json, from the original files or a stand-in.

    The files are acquired first, or were before if there is a `record` of it.

    Raises:
        InputError: a file is damaged, the table is not as declared, or the files are nowhere to be had
            and `stand_ins` is false.

    """
    plugin: Dataset = plugins.create("dataset", dataset)
    try:
        if record:
            found = recorded(dataset, record, raw, mirror, stand_ins, sources)
        else:
            found = acquire(dataset, raw, mirror, stand_ins, sources)
    except Unavailable as error:
        if not stand_ins:
            raise
        found = Acquired(dataset, STAND_IN, STAND_IN, "none: generated", "generated", " | ".join(error.reasons), {}, {})
    plugin = plugin.of_version(found.version)
    parts = _generated(plugin) if found.version == STAND_IN else _loaded(plugin, found)
    _write(Path(folder), plugin, parts, found)


def read(folder: str | Path, dataset: str) -> tuple[Table, dict[str, Any]]:
    """Read normalised data: the table and its facts (sizes, provenance, source).

    Clicks and images stay on disk until they are used, and their checksum is not computed (`make verify` does it).
    """
    meta, file = facts(folder, dataset), Path(folder, f"{dataset}.safetensors")
    if checksum(file) != meta.get("arrays"):
        raise InputError(f"file.{file}", "is not the one that its json describes", REMEDY)
    arrays, _ = (map_arrays if meta["kind"] in MAPPED else read_arrays)(file)
    codes = {k: v.astype("int64") for k, v in arrays.items() if k != "features"}
    table = Table(
        features=arrays["features"],
        labels=codes.pop("labels"),
        attributes={k.removeprefix("attribute_"): v for k, v in codes.items()},
        feature_names=tuple(meta["feature_names"]),
        categorical=tuple(meta["categorical"]),
        classes=meta["classes"],
    )
    return table, meta


def facts(folder: str | Path, dataset: str) -> dict[str, Any]:
    """Facts of normalised data without reading the arrays: sizes, names, provenance."""
    return read_json(Path(folder, f"{dataset}.json"))


def describe(folder: str | Path, datasets: Iterable[str]) -> pd.DataFrame:
    """Table with a row per dataset: sizes, provenance, source and caveats."""
    columns = ["dataset", "provenance", "rows", "features", "classes", "licence", "where", "note"]
    metas = [facts(folder, name) for name in datasets]
    table = pd.DataFrame([{**meta, "dataset": meta["name"]} for meta in metas], columns=columns)
    return table.rename(columns={"where": "where from"})


def _loaded(plugin: Dataset, found: Acquired) -> Iterator[Table]:
    try:
        yield from plugin.parts(found.files)
    except InputError:
        raise
    except (ValueError, LookupError, *DAMAGED) as error:  # what numpy and pandas raise on text they cannot parse
        expected = f"expected {few(found.files)} of the version {found.version}"
        raise plugin.error(f"cannot be read ({error})", expected) from error


def _generated(plugin: Dataset) -> Iterator[Table]:
    """Generated stand-in of the dataset, by the generator of its kind."""
    module = importlib.import_module(f"cutlayer.data.standins.{plugin.kind}")
    yield module.stand_in(plugin)


def _write(folder: Path, plugin: Dataset, parts: Iterator[Table], found: Acquired) -> None:
    arrays, facts = folder / f"{plugin.name}.safetensors", folder / f"{plugin.name}.json"
    # The json vouches for the arrays: the old one goes first, the new one comes last.
    counts = (_append if plugin.kind in MAPPED else _write_whole)(arrays, facts, plugin, parts)
    # The arrays' checksum makes what changes in them change the json: large files Snakemake compares by time alone.
    write_json(facts, _meta(plugin, counts, found) | {"arrays": checksum(arrays)})


def _write_whole(arrays: Path, facts: Path, plugin: Dataset, parts: Iterator[Table]) -> np.ndarray:
    """Write a table that fits into memory; return the class counts."""
    (table,) = parts
    plugin.check(table)
    facts.unlink(missing_ok=True)
    write_arrays(arrays, _arrays(table))
    return plugin.counts(table)


def _append(arrays: Path, facts: Path, plugin: Dataset, parts: Iterator[Table]) -> np.ndarray:
    """Write a table part by part; codes take as many bytes as their declared levels need. Return the class counts."""
    counts = np.zeros(plugin.classes, np.int64)
    levels = {"labels": plugin.classes} | {f"attribute_{name}": count for name, count in plugin.attributes.items()}
    types = {name: np.min_scalar_type(count - 1) for name, count in levels.items()}
    with growing(arrays) as append:
        for part in parts:
            plugin.check_part(part)
            append({k: v.astype(types.get(k, v.dtype), copy=False) for k, v in _arrays(part).items()})
            counts += plugin.counts(part)
        plugin.check_rows(counts.sum())
        plugin.check_rates(counts)
        facts.unlink(missing_ok=True)
    return counts


def _arrays(table: Table) -> dict[str, np.ndarray]:
    attributes = {f"attribute_{name}": codes for name, codes in table.attributes.items()}
    return {"features": table.features, "labels": table.labels, **attributes}


def _meta(plugin: Dataset, counts: np.ndarray, found: Acquired) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "kind": plugin.kind,
        "provenance": found.provenance,
        "rows": int(counts.sum()),
        "features": plugin.columns,
        "classes": plugin.classes,
        "class_names": list(plugin.class_names),
        "class_counts": counts.tolist(),
        "feature_names": list(plugin.feature_names),
        "categorical": list(plugin.categorical),
        "attributes": dict(plugin.attributes),
        "licence": found.licence,
        "version": found.version,
        "where": found.where,
        "files": found.sha256,
        "note": found.note,
    }
