"""Cells: the long table of measured values behind an exhibit, seed by seed.

A cell is one setup, defense, setting, attack, metric and place on the exhibit's axis. `gather` gives one
row per cell and seed (what claims are checked on), `summarize` one row per cell with its interval.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cutlayer.core.files import replacing
from cutlayer.data.normalised import facts, read
from cutlayer.games.vertical.preprocess import prepare
from cutlayer.metrics import declared
from cutlayer.plan.sweeps import SCORED, parameters_in

from .audit import of_worst
from .chance import errors, kind, rows_of, with_chance
from .samples import fewest, known, of_values
from .selection import chosen

NO_SEED = -1  # facts of the data involve no draw, so that their interval is the point itself
WHO = ["setup", "dataset", "provenance", "features", "defense", "setting", "attack", "metric"]
OF_ATTRIBUTE = {"values", "most_common"}
MOMENTS = {"mean", "variance", "mean_of_means"}
Columns = Mapping[str, np.ndarray]  # of one cell, (rows,) each
BEHIND = ["each", "error", "rows", "kind"]  # columns of summaries that no csv has
TEXT = ("defense", "setting", "attack", "skipped")


def gather(
    files: Sequence[str | Path], data: str | Path, setups: Mapping[str, str], exhibit: Mapping[str, Any]
) -> pd.DataFrame:
    """One row per cell and seed: WHO, the axis, seed, value, n (predictions), cases (averaged), skipped, and of
    `chance.with_chance` tested, chance, error (the mean over cases, as if all tested the same rows), few.

    `files` are csv tables of scores, utility or theory; `data` is the folder of normalised data; `setups`
    names the dataset of each setup. The exhibit's `along` is the axis, a column or a parameter of the settings; its
    `metrics` and `settings` (besides those without a name) are what is kept, or the one setting that its `choose`
    means. Attacks that are measured elsewhere (`attacked_in`) appear under the exhibit's own setups. Its `worst` puts
    the worst attack of a set in place of single ones, and says in a column `by` which that was. What a defense drew for
    labels, which its run scores (`as_drawn`), is kept where a set has it.
    """
    known = {name: facts(data, name) for name in sorted(set(setups.values()))}
    parts = [pd.read_csv(file, keep_default_na=False, na_values={"value": [""]}) for file in files]
    if "data" in exhibit["sources"]:
        parts += [pd.DataFrame(_sizes(setup, known[setups[setup]])) for setup in exhibit["setups"]]
        if MOMENTS & set(exhibit.get("metrics", MOMENTS)):
            parts += [pd.DataFrame(_moments(setup, read(data, setups[setup])[0])) for setup in exhibit["setups"]]
        if OF_ATTRIBUTE & set(exhibit.get("metrics", ())):
            sensitive = exhibit["sensitive"].items()
            parts += [pd.DataFrame(_attribute(s, read(data, setups[s])[0].attributes[name])) for s, name in sensitive]
    parts += [pd.DataFrame(exhibit["grids"])] if "grids" in exhibit["sources"] else []
    parts += [pd.DataFrame([row]) for row in exhibit["inapplicable"]]
    cells = _complete(pd.concat(parts, ignore_index=True), exhibit["along"])
    unasked = {*SCORED} - exhibit.get("worst", {}).get("among", {}).keys()
    cells = cells[~cells["attack"].isin(unasked)]
    if "settings" in exhibit:
        cells = cells[cells["setting"].isin([*exhibit["settings"], ""])]
    if "metrics" in exhibit:
        wanted = [*exhibit["metrics"], ""]  # "": why there is none of them
        cells = with_chance(cells[cells["metric"].isin([*wanted, *declared.FACTS])])  # of few rows: it takes long
        cells = cells[cells["metric"].isin(wanted)]
    else:
        cells = with_chance(cells)
    cells = _at_home(cells, exhibit).assign(dataset=lambda cells: cells["setup"].map(setups))
    for fact in ("provenance", "features"):
        cells[fact] = cells["dataset"].map({name: meta[fact] for name, meta in known.items()})
    groups = cells.groupby([*WHO, exhibit["along"], "seed"], sort=False, dropna=False)
    found = groups.agg(
        value=("value", "mean"),
        worst=("value", "max"),
        n=("n", "max"),
        cases=("value", "size"),
        skipped=("skipped", "first"),
        tested=("tested", "max"),
        chance=("chance", "mean"),
        error=("error", "mean"),
        few=("few", "max"),
    ).reset_index()
    found = found.assign(value=found["worst"].where(_worst(found["metric"]), found["value"])).drop(columns="worst")
    found = chosen(found, exhibit["choose"]) if "choose" in exhibit else found
    return of_worst(found, exhibit["worst"]) if "worst" in exhibit else found


def _at_home(cells: pd.DataFrame, exhibit: Mapping[str, Any]) -> pd.DataFrame:
    """Scores of attacks measured in other setups, relabeled with the exhibit's own setups."""
    for attack, pattern in exhibit.get("attacked_in", {}).items():
        homes = {pattern.format(setup=setup): setup for setup in exhibit["setups"]}
        cells = cells.assign(setup=cells["setup"].mask(cells["attack"] == attack, cells["setup"].replace(homes)))
    return cells


def _worst(metrics: pd.Series) -> pd.Series:
    """Largest deviation from a statement over cases; other metrics are averaged."""
    return metrics.map(lambda name: declared.of(name).kind == declared.DEVIATION)


def _complete(table: pd.DataFrame, along: str) -> pd.DataFrame:
    """Tables of different sources with the same columns."""
    for column in (*TEXT, "metric"):
        table[column] = table[column].fillna("") if column in table else ""
    table["seed"] = table["seed"].fillna(NO_SEED).astype(int) if "seed" in table else NO_SEED
    if along not in table:
        table[along] = _of_settings(table["setting"], along)
    if "predictions" not in table:
        table["predictions"] = 0
    return table.assign(n=table["predictions"].fillna(0))


def _of_settings(labels: pd.Series, parameter: str) -> pd.Series:
    """Value of a parameter in each setting, missing where a setting has none; 0 if no setting has it."""
    values = pd.to_numeric(labels.map({label: parameters_in(label).get(parameter) for label in labels.unique()}))
    return values if values.notna().any() else pd.Series(0, labels.index)


def _sizes(setup: str, meta: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Numbers of features, classes and records of a dataset; with two classes also the share of the second."""
    sizes = {"features": meta["features"], "classes": meta["classes"], "records": meta["rows"]}
    if meta["classes"] == 2:
        sizes["positive_rate"] = meta["class_counts"][1] / meta["rows"]
    for metric, value in sizes.items():
        yield {"setup": setup, "seed": NO_SEED, "feature": 0, "metric": metric, "value": value}


def _attribute(setup: str, attribute: Any) -> Iterator[dict[str, Any]]:
    """Number of values of a sensitive attribute (n,), and the share of the most common one."""
    counts = pd.Series(attribute).value_counts()
    for metric, value in (("values", len(counts)), ("most_common", counts.max() / counts.sum())):
        yield {"setup": setup, "seed": NO_SEED, "metric": metric, "value": value}


def _moments(setup: str, table: Any) -> Iterator[dict[str, Any]]:
    """Mean and variance of each scaled feature, and the mean of means."""
    X, _ = prepare(table, np.arange(len(table.labels)), "all")
    for place, (mean, variance) in enumerate(zip(X.mean(axis=0), X.var(axis=0), strict=True), start=1):
        for metric, value in (("mean", mean), ("variance", variance), ("mean_of_means", X.mean())):
            yield {"setup": setup, "seed": NO_SEED, "feature": place, "metric": metric, "value": value}


def num_seeds(group: pd.DataFrame | Columns) -> int:
    """Number of seeds of a cell; 0 for facts of the data."""
    return len({*group["seed"]} - {NO_SEED})


def each(group: Columns) -> dict[int, float]:
    """Values of a cell by seed; empty for facts of the data."""
    return {int(s): float(v) for s, v in zip(group["seed"], group["value"], strict=True) if s != NO_SEED and v == v}


def bounds(group: Columns) -> tuple[float, float, float]:
    """Mean and interval of a cell over its seeds; a fact of the data has no interval."""
    if num_seeds(group) == 0:
        value = float(pd.Series(group["value"]).mean())  # of those that are there
        return value, value, value
    found = of_values(kind(group["metric"][0], _chance(group)), group["value"], *behind(group)).estimate()
    return found.mean, found.low, found.high


def _chance(group: Columns) -> float:
    return float(group["chance"][0]) if "chance" in group else math.nan


def behind(group: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors of a cell's values from the tested rows, and the numbers of these rows."""
    unknown = np.full(len(group["value"]), math.nan)
    facts = [group.get(name, unknown) for name in ("chance", "tested", "few", "cases")]
    rows = np.array([rows_of(*each) for each in zip(group["metric"], *facts, strict=True)], dtype=float)
    return errors(group["metric"], {"value": group["value"], "error": group.get("error", unknown), "rows": rows}), rows


def load(path: str | Path) -> pd.DataFrame:
    """Read what `write` wrote of `gather`; its words are one block of objects, of which selections are quick."""
    table = pd.read_csv(path, keep_default_na=False, dtype=object)
    words = {*WHO, "skipped", "by", "scale"} - {"features"}
    for name in table.columns.difference(list(words)):
        table[name] = pd.to_numeric(table[name])
    return table


def axis(cells: pd.DataFrame) -> str:
    """Name of the exhibit's axis: the column after WHO."""
    return str(cells.columns[len(WHO)])


def summarize(cells: pd.DataFrame, paper: str, exhibit: str) -> pd.DataFrame:
    """One row per cell and `scale`: mean over seeds, ends of the 95% interval, seeds, provenance; for figures `each`
    seed's value, the `error` and number of the `rows` behind it, and the metric's `kind`, which no csv has (`BEHIND`).

    `by` names the worst attacks, the one of most seeds first.
    """
    along, rows = axis(cells), []
    for who, group in _groups(cells, [*WHO, along, "scale"]):
        mean, low, high = bounds(group)
        row: dict[str, Any] = {"paper": paper, "exhibit": exhibit, "scale": who["scale"]} | who
        if along == "d":
            row["share"] = row["d"] / row["features"]
        row |= {"n": int(group["n"].max()), "cases": int(group["cases"].max()), "seeds": num_seeds(group)}
        row |= {"mean": mean, "low": low, "high": high, "skipped": group["skipped"][0]}
        row |= {"by": ", ".join(name for name, _ in Counter(group["by"]).most_common())} if "by" in group else {}
        error, decide = behind(group)
        row |= {"each": each(group), "error": known(error), "rows": fewest(decide)}
        rows.append(row | {"kind": kind(group["metric"][0], _chance(group))})
    return pd.DataFrame(rows)


def _groups(cells: pd.DataFrame, keys: list[str]) -> Iterator[tuple[dict[str, Any], Columns]]:
    """What the rows of each cell have in common, and its other columns; a frame for each cell would take far longer."""
    number = cells.groupby(keys, sort=False, dropna=False).ngroup().to_numpy()
    places = np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])
    columns = {name: cells[name].to_numpy() for name in cells.columns}
    for own in places:
        yield {name: columns[name][own[0]] for name in keys}, {name: columns[name][own] for name in columns}


def write(table: pd.DataFrame, path: str | Path) -> None:
    """Write a table as csv with 10 significant digits, atomically."""
    with replacing(path) as temporary:
        table.to_csv(temporary, index=False, float_format="%.10g")
