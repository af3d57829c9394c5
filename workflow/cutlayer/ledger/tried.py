"""Verdict of `make try`: a sentence on a user's method in the arena, from the cells of its exhibit.

A defense is *on the Pareto front* of a setup if one of its settings is, see `front.pareto_front`. It is *dominated* if
each of its settings leaks surely more to the worst attack and is surely less useful than one of another defense. Else
it is undecided. An attack is *stronger* on a scheme if it surely leaks more than the worst of all attacks of the arena.
Surely is with 95% for all that is compared at once (see `front.pareto_front` and `statistics.holm`), not for each
comparison by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cutlayer.core.files import replacing

from .cells import load
from .front import beaten, pareto_front
from .samples import known
from .signal import Signals
from .statistics import Sample, holm

Exhibit = Mapping[str, Any]
Draw = Mapping[str, Any]
LEAK, UTILITY = "attack_utility", "test_utility"  # as a frontier has them where `draw` does not say otherwise
UNDECIDED = "undecided"
MARKS = {"stand-in": "generated stand-in data", "synthetic": "generated data"}


def write(
    name: str, kind: str, own: Sequence[str], strongest: str, exhibit: Exhibit, cells: Path, output: Path
) -> None:
    """Write the sentence on a method, named as in `Outside.subject`; `strongest` is the set of attacks that counts."""
    table, reasons = load(cells), {"defense": of_defense, "attack": of_attack, "dataset": of_dataset}
    sentence = reasons[kind](table, own, strongest, exhibit["draw"], exhibit["setups"])
    with replacing(output) as temporary:
        temporary.write_text(f"{name}: {sentence}.\n", encoding="utf-8")


def of_defense(cells: pd.DataFrame, own: Sequence[str], strongest: str, draw: Draw, setups: Iterable[str]) -> str:
    """Verdict on the variants `own` of a defense on each setup: on the Pareto front, dominated (by ...), undecided."""
    signals, verdicts = Signals({"": cells}), {}
    for setup in setups:
        here = cells[(cells["setup"] == setup) & cells["attack"].isin([strongest, ""])]
        verdicts[setup] = (
            _failed(here, own)
            or _weak(signals, here[here["defense"].isin(own)], draw)
            or _placed(here, own, strongest, draw)
        )
    return _listed(verdicts, cells)


def of_dataset(cells: pd.DataFrame, own: Sequence[str], strongest: str, draw: Draw, setups: Iterable[str]) -> str:
    """Defenses on the Pareto front in each of the dataset's setups `own`."""
    signals, verdicts = Signals({"": cells}), {}
    for setup in setups:
        here = cells[(cells["setup"] == setup) & cells["attack"].isin([strongest, ""])]
        verdicts[setup] = _weak(signals, here, draw) or _in_front(here, strongest, draw)
    return _listed(verdicts, cells)


def of_attack(cells: pd.DataFrame, own: Sequence[str], strongest: str, draw: Draw, setups: Iterable[str]) -> str:
    """Schemes on which the variants `own` of an attack infer surely more than the strongest of all others."""
    sign = 1 if draw.get("safer", "down") == "down" else -1
    metric, where, gaps = draw.get("leak", LEAK), [], []
    known = cells[(cells["metric"] == metric) & cells["value"].notna()]
    for setup in setups:
        for (defense, setting), scheme in known[known["setup"] == setup].groupby(["defense", "setting"], sort=False):
            rest = scheme[scheme["attack"] == strongest].set_index("seed")
            for variant in own:
                gap = _gap(scheme[scheme["attack"] == variant].set_index("seed"), rest, sign)
                if len(gap.values) > 1:
                    gaps.append(gap)
                    where.append(f"than {rest['by'].mode().iloc[0]} on {_scheme(defense, setting)} on {setup}")
    if not gaps:
        return f"no result, {_reason(cells[cells['attack'].isin(own)])}"
    stronger, weaker = (holm([one.below() for one in side]) for side in ([-gap for gap in gaps], gaps))
    found = [place for place, more in zip(where, stronger, strict=True) if more]
    undecided = len(gaps) - sum(weaker) - len(found)
    rest_of = f"surely weaker on {sum(weaker)} of {len(gaps)} schemes, {UNDECIDED} on {undecided}"
    return "; ".join([f"stronger {', '.join(found)}" if found else "nowhere surely stronger", rest_of]) + _data(cells)


def _gap(own: pd.DataFrame, rest: pd.DataFrame, sign: int) -> Sample:
    """Leak to an attack minus the leak to the strongest of the others, for each common seed."""
    gap = (own["value"] - rest["value"]).dropna()
    errors = [known(side["error"].to_numpy(dtype=float)) if "error" in side else 0.0 for side in (own, rest)]
    return Sample(sign * gap.to_numpy(), math.hypot(*errors))


def _placed(cells: pd.DataFrame, own: Sequence[str], strongest: str, draw: Draw) -> str:
    """Verdict on a defense among the others of a setup."""
    whose, costs, gains = _points(cells, strongest, draw)
    mine = np.isin(whose, list(own))
    if pareto_front(costs, gains)[mine].any():
        return "on the Pareto front"
    by = beaten(costs, gains)[np.ix_(mine, ~mine)]
    if not len(by) or not by.any(axis=1).all():
        return UNDECIDED
    others = whose[~mine]
    always = [name for name in dict.fromkeys(others) if by[:, others == name].any(axis=1).all()]
    return f"dominated by {always[0] if always else ' and '.join(dict.fromkeys(others[by.argmax(axis=1)]))}"


def _in_front(cells: pd.DataFrame, strongest: str, draw: Draw) -> str:
    """Defenses with a setting on the Pareto front."""
    whose, costs, gains = _points(cells, strongest, draw)
    names = list(dict.fromkeys(whose[pareto_front(costs, gains)]))
    return f"{', '.join(names)} on the Pareto front" if names else "no Pareto front that the intervals support"


def _points(cells: pd.DataFrame, strongest: str, draw: Draw) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Defense (k,), cost and gain (k, seeds) of each setting that has numbers in every seed."""
    leak = _by_seed(cells[(cells["attack"] == strongest) & (cells["metric"] == draw.get("leak", LEAK))])
    gain = _by_seed(cells[(cells["attack"] == "") & (cells["metric"] == draw.get("utility", UTILITY))])
    points = leak.index.intersection(gain.index, sort=False)
    costs, gains = leak.loc[points].to_numpy(), gain.loc[points].to_numpy()
    costs = costs if draw.get("safer", "down") == "down" else -costs
    gains = gains if draw.get("better", "up") == "up" else -gains
    return points.get_level_values("defense").to_numpy(), costs, gains


def _by_seed(cells: pd.DataFrame) -> pd.DataFrame:
    """Values by (defense, setting) and seed, for those with a value in every seed."""
    return cells.pivot_table("value", ["defense", "setting"], "seed", sort=False).dropna()


def _failed(cells: pd.DataFrame, own: Sequence[str]) -> str:
    mine = cells[cells["defense"].isin(own)]
    return "" if mine["value"].notna().any() else f"no result ({_reason(mine)})"


def _reason(cells: pd.DataFrame) -> str:
    reasons = [reason for reason in cells["skipped"] if reason]
    return reasons[0] if reasons else "it was not measured"


def _weak(signals: Signals, cells: pd.DataFrame, draw: Draw) -> str:
    """Reason why the cells of a setup have no signal, by the two metrics that place a method; else empty."""
    placed = [draw.get("leak", LEAK), draw.get("utility", UTILITY)]
    reason = signals.lacking({"statistic": "value", "exhibit": ""}, cells[cells["metric"].isin(placed)])
    return f"no signal ({reason})" if reason else ""


def _listed(verdicts: Mapping[str, str], cells: pd.DataFrame) -> str:
    """Text with the setups of each verdict, and with the provenance of data that are not real."""
    setups: dict[str, list[str]] = {}
    for setup, verdict in verdicts.items():
        setups.setdefault(verdict, []).append(setup)
    return "; ".join(f"{verdict} on {' and '.join(names)}" for verdict, names in setups.items()) + _data(cells)


def _data(cells: pd.DataFrame) -> str:
    kinds = cells.drop_duplicates("setup").set_index("setup")["provenance"]
    marks = [f"{setup}: {MARKS[kind]}" for setup, kind in kinds.items() if kind in MARKS]
    return f" ({', '.join(marks)})" if marks else ""


def _scheme(defense: str, setting: str) -> str:
    return f"{defense} {setting}".strip()
