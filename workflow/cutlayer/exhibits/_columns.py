"""Columns by which plots group cells, and the handling of cells that have no number."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from cutlayer.core import failed_cells, failures
from cutlayer.plan.sweeps import parameters_in

RUN = ["setup", "defense", "setting"]
CASE = [*RUN, "attack"]
MARK = "†"
RUN_COLUMNS = ("mean", "low", "high", "each", "least", "most")  # of a run's cell, joined to an attack's


def column(cells: pd.DataFrame, name: str) -> pd.Series:
    """A column of the cells, the `scheme` (defense with its setting), or a parameter of the setting.

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
    """Name of a defense with its setting; a swept parameter that is in the defense's name is not repeated."""
    name, equals, value = setting.partition("=")
    if equals and defense.endswith(f"_{name}"):
        return f"{defense}={value}"
    return f"{defense} {setting}".strip()


def ordered(settings: pd.Series) -> bool:
    """True if the settings differ in one numeric parameter, so that a line may join them."""
    own = [parameters_in(setting) for setting in settings.unique()]
    values = pd.to_numeric(pd.Series([value for one in own for value in one.values()], dtype=object), errors="coerce")
    return len({tuple(one) for one in own}) == 1 and all(len(one) == 1 for one in own) and bool(values.notna().all())


def reason_text(skipped: str) -> str:
    """Text for a cell without a number: a method does not apply or failed, or the scale is too small."""
    own_words = skipped.startswith((failures.PREFIX, failures.REDUCED))
    return skipped if own_words else f"does not apply: {skipped}"


def measured(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells that have a number."""
    return cells[cells["skipped"] == ""]


def with_run(cells: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Each attack's cells, joined with `metric` of their run: columns mean_run, low_run, high_run, ..."""
    run = cells[cells["metric"] == metric].set_index(RUN)[[name for name in RUN_COLUMNS if name in cells]]
    return cells[cells["metric"] != metric].join(run.add_suffix("_run"), on=RUN)


def first_of(cells: pd.DataFrame, metrics: list[str]) -> pd.DataFrame:
    """For each case the first of these metrics that it has; cells without a number stay."""
    rank = cells["metric"].map({name: place for place, name in enumerate(metrics)})
    first = rank.groupby([cells[name] for name in CASE]).transform("min")
    return cells[(rank == first) | (cells["skipped"] != "")]


def marked(cells: pd.DataFrame, knowing: Collection[str]) -> tuple[pd.DataFrame, str]:
    """The cells with a MARK behind each adaptive attack that was chosen, and the footnote that explains the mark."""
    if "by" not in cells:
        return cells, ""
    named = [[f"{name}{MARK}" if name in knowing else name for name in by.split(", ")] for by in cells["by"]]
    cells = cells.assign(by=[", ".join(names) for names in named])
    return cells, f"{MARK} uses knowledge of the defense" if cells["by"].str.contains(MARK, regex=False).any() else ""


def without_partial_skips(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells without those that a method skipped while it gave a number elsewhere on the same axis."""
    with_number = pd.MultiIndex.from_frame(measured(cells)[CASE])
    in_part = pd.MultiIndex.from_frame(cells[CASE]).isin(with_number)
    return cells[(cells["skipped"] == "") | failed_cells.among(cells) | ~in_part]


def spread_skips(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells with each skip that concerns a whole defense or attack repeated for every case that it concerns."""
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


def without_few(cells: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The cells without those of methods that the scale runs in few setups, and one sentence that names the methods.

    If nothing else is there, the cells stay, each with its reason, and there is no sentence.
    """
    few = cells["skipped"].str.startswith(failures.FEW)
    if few.all() or not few.any():
        return cells, []
    gone = cells[few]
    where = gone["setup"].groupby((gone["defense"] + gone["attack"]).rename("method"), sort=False).unique()
    methods: dict[str, list[str]] = {}
    for method, setups in where.items():
        methods.setdefault(", ".join(setups), []).append(str(method))
    parts = [f"{', '.join(names)} not on {setups}" for setups, names in methods.items()]
    return cells[~few], [f"at scale {gone['scale'].iloc[0]} {'; '.join(parts)}"]


def inapplicable(cells: pd.DataFrame) -> list[str]:
    """One sentence for each method that does not apply, with the reason, in the order of the cells."""
    cells, few = without_few(cells)
    rows = without_partial_skips(cells)
    rows = rows.assign(scheme_=column(rows, "scheme"))
    skipped = rows[(rows["skipped"] != "") & ~failed_cells.among(rows)]
    where: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in skipped.to_dict("records"):
        where.setdefault((row["attack"], row["skipped"], row["scheme_"]), {})[row["setup"]] = None
    who: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (attack, reason, own), setups in where.items():
        who.setdefault((attack, reason, tuple(setups)), []).append(own)
    of_defense = {str(name): list(dict.fromkeys(own["scheme_"])) for name, own in rows.groupby("defense", sort=False)}
    return few + [
        f"{_named(attack, schemes, of_defense)} not on {', '.join(setups)}: {reason}"
        for (attack, reason, setups), schemes in who.items()
    ]


def _named(attack: str, schemes: list[str], of_defense: dict[str, list[str]]) -> str:
    """Name of what does not apply: the attack alone if it is so under all of several schemes, else schemes and attack.

    A defense is named without its settings if all of them are concerned.
    """
    if attack and len(schemes) == sum(map(len, of_defense.values())) > 1:
        return attack
    whole = {own: defense for defense, every in of_defense.items() if set(every) <= set(schemes) for own in every}
    names = dict.fromkeys(whole.get(own, own) for own in schemes)
    return " / ".join(filter(None, [", ".join(names), attack]))
