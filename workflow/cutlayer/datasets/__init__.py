"""Datasets: one file each; here is what turns their original files into normalised data and back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..acquire import Acquired, Unavailable, acquire
from ..errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from .base import Dataset, Table

STAND_IN = "stand-in"


def normalise(
    dataset: str,
    raw: str | Path,
    mirror: str | Path | None,
    stand_ins: bool,
    sources: str | Path,
    folder: str | Path,
    asked: str = "first",
) -> None:
    """Write `folder`/<dataset>.safetensors and then <dataset>.json, from the original files or a stand-in.

    `asked` is recorded, see `acquire.asked`.

    Raises:
        InputError: a file is damaged, the table is not as declared, or the files are nowhere to be had
            and `stand_ins` is false.

    """
    from .. import plugins

    plugin: Dataset = plugins.create("dataset", dataset)
    try:
        found = acquire(dataset, raw, mirror, stand_ins, sources)
    except Unavailable as error:
        if not stand_ins:
            raise
        table, found = _generated(plugin, error)
    else:
        table = _loaded(plugin, found)
    plugin.check(table)
    _write(Path(folder), plugin, table, found, asked)


def read(folder: str | Path, dataset: str) -> tuple[Table, dict[str, Any]]:
    """Read what `normalise` wrote: the table, and what is known of its origin."""
    from ..artifacts import read_arrays, read_json
    from .base import Table

    meta = read_json(Path(folder, f"{dataset}.json"))
    arrays, _ = read_arrays(Path(folder, f"{dataset}.safetensors"))
    attributes = {k.removeprefix("attribute_"): v for k, v in arrays.items() if k.startswith("attribute_")}
    table = Table(
        features=arrays["features"],
        labels=arrays["labels"],
        attributes=attributes,
        feature_names=tuple(meta["feature_names"]),
        categorical=tuple(meta["categorical"]),
        classes=meta["classes"],
    )
    return table, meta


def describe(folder: str | Path, datasets: Iterable[str]) -> pd.DataFrame:
    """One row per dataset: what it is, how it was obtained, and from where."""
    import pandas as pd

    from ..artifacts import read_json

    columns = ["dataset", "provenance", "rows", "features", "classes", "licence", "where"]
    metas = [read_json(Path(folder, f"{name}.json")) for name in datasets]
    table = pd.DataFrame([{**meta, "dataset": meta["name"]} for meta in metas], columns=columns)
    return table.rename(columns={"where": "where from"})


def _loaded(plugin: Dataset, found: Acquired) -> Table:
    try:
        return plugin.load(found.files)
    except InputError:
        raise
    except (ValueError, LookupError) as error:  # what numpy and pandas raise on text they cannot parse
        raise plugin.error(f"cannot be read ({error})", f"the {found.version} version is expected") from error


def _generated(plugin: Dataset, why: Unavailable) -> tuple[Table, Acquired]:
    """The stand-in of the dataset's kind; its note says why it had to be used."""
    import importlib

    kind = importlib.import_module(f"cutlayer.standins.{plugin.kind}")
    found = Acquired(plugin.name, STAND_IN, STAND_IN, "none: generated", "generated", "", {}, {})
    return kind.stand_in(plugin), replace(found, note=" | ".join(why.reasons))


def _write(folder: Path, plugin: Dataset, table: Table, found: Acquired, asked: str) -> None:
    from ..artifacts import write_arrays, write_json

    # The json vouches for the arrays: the old one goes first, the new one comes last.
    Path(folder, f"{plugin.name}.json").unlink(missing_ok=True)
    sensitive = {f"attribute_{name}": codes for name, codes in table.attributes.items()}
    arrays = {"features": table.features, "labels": table.labels, **sensitive}
    write_arrays(folder / f"{plugin.name}.safetensors", arrays)
    write_json(folder / f"{plugin.name}.json", _meta(plugin, table, found) | {"asked": asked})


def _meta(plugin: Dataset, table: Table, found: Acquired) -> dict[str, Any]:
    rows, features = table.features.shape
    return {
        "name": plugin.name,
        "kind": plugin.kind,
        "provenance": found.provenance,
        "rows": rows,
        "features": features,
        "classes": table.classes,
        "class_names": list(plugin.class_names),
        "class_counts": [int((table.labels == label).sum()) for label in range(table.classes)],
        "feature_names": list(table.feature_names),
        "categorical": list(table.categorical),
        "attributes": dict(plugin.attributes),
        "licence": found.licence,
        "version": found.version,
        "where": found.where,
        "files": found.sha256,
        "note": found.note,
    }
