"""Strongest attack of a set, chosen on other seeds than the one it is reported on (leave-one-out).

Whoever takes the best of many attacks on the very runs it is scored on, reports luck as a leak. So for each setting of
a defense and each seed the attack is chosen by its mean over all *other* seeds (leave-one-out), and what it gets on
this seed is what counts. Which way round an AUC is read is chosen on the same other seeds. Of attacks that leak alike
the first named counts. An attack that has no number in some seed of a setting is not among those to choose from.

A rule has the metrics that are `leaks`, each with whether "more" or "less" of it is more of a leak, and under `among`
names of sets of attacks. Each metric has its own worst attack. Where an attack of a set failed, its reason stays beside
the set's number, for one that was not tried may be the worst.

Aerni, Zhang, Tramer, "Evaluations of Machine Learning Privacy Defenses are Misleading".
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cutlayer.core import failed_cells, failures

from .chance import leaks as mirrored
from .chance import two_sided, with_columns

Rule = Mapping[str, Any]
RUN = ["setup", "defense", "setting"]
CASE: list[Hashable] = [*RUN, "metric"]
NEWER = f"{failures.REDUCED}the set of attacks is newer than the run"
ONE_SEED = f"{failures.REDUCED}the attack is chosen on other seeds, and there is one"


def worst(cells: pd.DataFrame, rule: Rule, earlier: bool = False, less: str = "") -> pd.DataFrame:
    """Cells seed by seed (see `cells.gather`), with each set's strongest attack in place of single attacks.

    `attack` is the set, `by` the attack that was chosen for the seed; both are empty for what a run says of itself.
    `earlier`: attack and sign are chosen on seeds before the reported one, so that the first has no number. `less`: a
    metric of each attack that is taken off its leak where the attack is chosen.
    """
    raw, cells = cells, two_sided(cells, earlier)
    parts = [cells[cells["attack"] == ""].assign(by="")]
    known = cells[(cells["skipped"] == "") & cells["metric"].isin(list(rule["leaks"]))]
    leak = _leaks(raw.loc[known.index], rule["leaks"])
    off = _taken_off(cells[cells["metric"] == less], leak)
    for name, attacks in rule["among"].items():
        parts += [
            _numbers(known, leak, off, name, attacks, earlier),
            _reasons(cells[cells["attack"].isin(attacks)], name),
        ]
    found = pd.concat([part for part in parts if not part.empty], ignore_index=True)
    runs = cells[RUN].drop_duplicates(ignore_index=True)
    place = pd.Series(runs.index, index=pd.MultiIndex.from_frame(runs))
    order = place.loc[pd.MultiIndex.from_frame(found[RUN])].to_numpy().argsort(kind="stable")
    return found.iloc[order].reset_index(drop=True)


def with_parts(cells: pd.DataFrame, among: Mapping[str, Sequence[str]]) -> pd.DataFrame:
    """The cells with numbers of sets that are newer than they are, from those of the least set that has all of one.

    The strongest attack of a set is the strongest of each part that has it. So where every seed of a setting chose an
    attack of the part, the set's numbers are the part's; elsewhere a reason says that the part has none.
    """
    parts = [cells]
    for name in [one for one in among if one not in set(cells["attack"])]:
        there = [own for own in among if {*among[name]} < {*among[own]} and own in set(cells["attack"])]
        wider = sorted(there, key=lambda own: len(among[own]))
        own = cells[cells["attack"].isin(wider[:1])]
        case = own[[*CASE, *({"scale"} & {*own})]].apply(tuple, axis=1)
        chosen = own.get("by", own["attack"])  # published before the exhibit had sets, each attack stands for itself
        within = chosen.isin(among[name]).groupby(case).transform("all")
        reasons = own["skipped"].where(within | (own["skipped"] != ""), NEWER)
        parts.append(own.assign(attack=name, value=own["value"].where(within), skipped=reasons))
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else cells


def choices(
    leak: np.ndarray, mirrored: bool = False, earlier: bool = False, off: np.ndarray | float = 0.0
) -> list[int]:
    """Attack with the largest mean leak over all other seeds, for each of at least two seeds; leaks (seeds, attacks).

    `off`, of the same shape, is taken off the leaks, after they are mirrored.

    `mirrored`: they are AUCs, of which a mean below 1/2 leaks as much as one that is as far above. `earlier`: over the
    seeds before, for each but the first.
    """
    seeds = range(1 if earlier else 0, len(leak))
    less, found = np.broadcast_to(off, leak.shape), []
    for seed in seeds:
        others = slice(seed) if earlier else np.arange(len(leak)) != seed
        mean = leak[others].mean(axis=0)
        mean = np.maximum(mean, 1 - mean) if mirrored else mean
        found.append(int((mean - less[others].mean(axis=0)).argmax()))
    return found


def _leaks(known: pd.DataFrame, leaks: Mapping[str, str]) -> pd.DataFrame:
    """Leak to each attack (columns) in each setting, metric and seed (rows); higher is worse.

    The last level of rows says whether they are AUCs, and may be mirrored.
    """
    sign = known["metric"].map({metric: 1.0 if more == "more" else -1.0 for metric, more in leaks.items()})
    known = known.assign(value=sign * known["value"], mirrored=mirrored(with_columns(known)))
    return known.pivot_table("value", [*CASE, "seed", "mirrored"], "attack", sort=False)


def _taken_off(less: pd.DataFrame, leak: pd.DataFrame) -> pd.DataFrame:
    """What is taken off each leak; 0 where there is none."""
    nothing = pd.DataFrame(0.0, index=leak.index, columns=leak.columns)
    if less.empty:
        return nothing
    own = less.pivot_table("value", [*RUN, "seed"], "attack").reindex(columns=leak.columns)
    own = own.reindex(pd.MultiIndex.from_frame(leak.index.to_frame()[[*RUN, "seed"]])).fillna(0.0)
    return nothing + own.to_numpy()


def _numbers(
    known: pd.DataFrame, leak: pd.DataFrame, off: pd.DataFrame, name: str, attacks: Sequence[str], earlier: bool
) -> pd.DataFrame:
    """Numbers of a set's strongest attack in each setting, metric and seed."""
    own, found = leak[[attack for attack in attacks if attack in leak]], []
    own = own.sort_index(level="seed", kind="stable", sort_remaining=False) if earlier else own
    values, numbered, places = own.to_numpy(), own.notna().to_numpy(), own.index.to_list()
    less = off.reindex(own.index)[own.columns].to_numpy()
    for rows in own.groupby(level=CASE, sort=False).indices.values():  # in numpy: there are thousands
        there = np.flatnonzero(numbered[rows].all(axis=0))
        if len(there):
            several = len(rows) > 1 or earlier
            off_rows = less[rows][:, there]
            best = choices(values[rows][:, there], places[rows[0]][-1], earlier, off_rows) if several else [0]
            reported = rows[len(rows) - len(best) :]
            found += [(*places[row][:-1], own.columns[there[one]]) for row, one in zip(reported, best, strict=True)]
    chosen = pd.DataFrame(found, columns=[*CASE, "seed", "attack"]).assign(by=lambda rows: rows["attack"])
    cells = known.merge(chosen, on=[*CASE, "seed", "attack"]).assign(attack=name)
    alone = (cells.groupby(CASE)["seed"].transform("nunique") == 1) & (not earlier)
    return cells.assign(
        value=cells["value"].mask(alone), by=cells["by"].mask(alone, ""), skipped=cells["skipped"].mask(alone, ONE_SEED)
    )


def _reasons(own: pd.DataFrame, name: str) -> pd.DataFrame:
    """Reasons why attacks of a set failed, or why none has a number."""
    known, lacking = own[own["skipped"] == ""], own[own["skipped"] != ""]
    numbered = pd.MultiIndex.from_frame(lacking[RUN]).isin(pd.MultiIndex.from_frame(known[RUN]))
    elsewhere = lacking["setup"].isin(known["setup"]).to_numpy()  # a reason for every defense of a setup
    failed = failed_cells.among(lacking)
    reasons = lacking[failed | ~np.where(lacking["defense"] == "", elsewhere, numbered)]
    reasons = reasons.sort_values("skipped", key=lambda texts: ~texts.str.startswith(failures.PREFIX), kind="stable")
    return reasons.drop_duplicates([*RUN, "seed"]).assign(attack=name, by="")
