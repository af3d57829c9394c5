"""What drawings group cells by, and which cells have no number and why."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from cutlayer.core import failed_cells, failures, scales
from cutlayer.plan.sweeps import parameters_in

RUN = ["setup", "defense", "setting"]
CASE = [*RUN, "attack"]
MARK = "†"
BESIDE = ("mean", "low", "high", "each", "least", "most")  # what a run's cell says beside an attack's


def column(cells: pd.DataFrame, name: str) -> pd.Series:
    """A column of the cells; `scheme`: the defense with its setting; else a parameter in the setting.

    A parameter is a number where all settings that have it give one, and missing where a setting has none.
    """
    if name in cells:
        return cells[name]
    if name == "scheme":
        return pd.Series([scheme(*pair) for pair in zip(cells["defense"], cells["setting"], strict=True)], cells.index)
    values = cells["setting"].map(lambda setting: parameters_in(setting).get(name))
    numbers = pd.to_numeric(values, errors="coerce")
    return numbers if numbers.notna().equals(values.notna()) else values


def scheme(defense: str, setting: str) -> str:
    """One name for a defense in a setting; a defense named after the parameter that it sweeps does not repeat it."""
    name, equals, value = setting.partition("=")
    if equals and defense.endswith(f"_{name}"):
        return f"{defense}={value}"
    return f"{defense} {setting}".strip()


def ordered(settings: pd.Series) -> bool:
    """Whether settings have an order, in which a line may join them: those of one parameter that is a number."""
    own = [parameters_in(setting) for setting in settings.unique()]
    values = pd.to_numeric(pd.Series([value for one in own for value in one.values()], dtype=object), errors="coerce")
    return len({tuple(one) for one in own}) == 1 and all(len(one) == 1 for one in own) and bool(values.notna().all())


def why(skipped: str) -> str:
    """Why there is no number, as people read it: of a method, unless it failed or the scale is too small."""
    told = skipped.startswith((failures.PREFIX, scales.PREFIX))
    return skipped if told else f"does not apply: {skipped}"


def measured(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells with a number."""
    return cells[cells["skipped"] == ""]


def beside(cells: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Each attack's cells with its run's `metric` beside them: columns mean_run, low_run, high_run, ..."""
    run = cells[cells["metric"] == metric].set_index(RUN)[[name for name in BESIDE if name in cells]]
    return cells[cells["metric"] != metric].join(run.add_suffix("_run"), on=RUN)


def first_of(cells: pd.DataFrame, metrics: list[str]) -> pd.DataFrame:
    """Of each case the first of these metrics that it has, and what has no number."""
    rank = cells["metric"].map({name: place for place, name in enumerate(metrics)})
    first = rank.groupby([cells[name] for name in CASE]).transform("min")
    return cells[(rank == first) | (cells["skipped"] != "")]


def marked(cells: pd.DataFrame, knowing: Collection[str]) -> tuple[pd.DataFrame, str]:
    """The cells with a MARK behind the chosen attacks that use knowledge of the defense, and what to say of it."""
    if "by" not in cells:
        return cells, ""
    named = [[f"{name}{MARK}" if name in knowing else name for name in by.split(", ")] for by in cells["by"]]
    cells = cells.assign(by=[", ".join(names) for names in named])
    return cells, f"{MARK} uses knowledge of the defense" if cells["by"].str.contains(MARK, regex=False).any() else ""


def settled(cells: pd.DataFrame) -> pd.DataFrame:
    """Without the cells that a method skipped in part: where it gave a number elsewhere on the axis, that is drawn."""
    with_number = pd.MultiIndex.from_frame(measured(cells)[CASE])
    in_part = pd.MultiIndex.from_frame(cells[CASE]).isin(with_number)
    return cells[(cells["skipped"] == "") | failed_cells.among(cells) | ~in_part]


def spread(cells: pd.DataFrame) -> pd.DataFrame:
    """With what does not apply said of every case that it concerns: an attack's under each scheme, and vice versa."""
    general = (cells["skipped"] != "") & ~failed_cells.among(cells)
    known = measured(cells)
    parts = [cells[~general]]
    for _, row in cells[general].iterrows():
        own = known[known["setup"] == row["setup"]]
        missing = [names for names in (["defense", "setting"], ["attack"]) if row[names[0]] == ""]
        places = own[[name for names in missing for name in names]].drop_duplicates()
        places = places[(places != "").any(axis=1)] if missing else places
        copies = pd.DataFrame([row] * max(1, len(places))).reset_index(drop=True)
        parts.append(copies.assign(**{name: places[name].to_numpy() for name in places}) if len(places) else copies)
    return pd.concat(parts, ignore_index=True)


def asides(cells: pd.DataFrame) -> list[str]:
    """What does not apply and why, a sentence each, in the cells' order; of an attack that meets no scheme one."""
    rows = settled(cells)
    rows = rows.assign(scheme_=column(rows, "scheme"))
    skipped = rows[(rows["skipped"] != "") & ~failed_cells.among(rows)]
    where: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in skipped.to_dict("records"):
        where.setdefault((row["attack"], row["skipped"], row["scheme_"]), {})[row["setup"]] = None
    who: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (attack, reason, own), setups in where.items():
        who.setdefault((attack, reason, tuple(setups)), []).append(own)
    of_defense = {str(name): list(dict.fromkeys(own["scheme_"])) for name, own in rows.groupby("defense", sort=False)}
    return [
        f"{_named(attack, schemes, of_defense)} not on {', '.join(setups)}: {reason}"
        for (attack, reason, setups), schemes in who.items()
    ]


def _named(attack: str, schemes: list[str], of_defense: dict[str, list[str]]) -> str:
    """Who does not apply: the attack if it is so under all of several schemes, else the schemes with it.

    A defense of which all settings are concerned is named without them.
    """
    if attack and len(schemes) == sum(map(len, of_defense.values())) > 1:
        return attack
    whole = {own: defense for defense, every in of_defense.items() if set(every) <= set(schemes) for own in every}
    names = dict.fromkeys(whole.get(own, own) for own in schemes)
    return " / ".join(filter(None, [", ".join(names), attack]))
