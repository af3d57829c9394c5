"""Tables of `readings`: measured values under each reading, and the published values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
from table import markdown
from trials import ROOT

from cutlayer.ledger.selection import choose
from cutlayer.ledger.statistics import interval

PUBLISHED = ROOT / "workflow/papers/tcpo/published.csv"
WITHIN = 0.02  # of utility, of the rule that tables 3 to 5 choose a setting by
LITERAL = "literal"
UTILITY = "test_accuracy"
METRICS = {"basic": "attack_accuracy", "dpa": "attack_accuracy_max", "dsa": "attack_accuracy_max"}  # as the paper's


class Measured:
    """The rows of a measurement, and the printed numbers; all in percent."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.rows = rows
        self.setups = list(dict.fromkeys(rows["setup"]))
        numbers = pd.read_csv(PUBLISHED).query("item != 'table3'")
        self._printed = numbers.set_index(["target", "method", "metric"])["value"]

    def values(self, metric: str = "", **who: str) -> list[float]:
        """One value a seed: what an attack finds, or another metric of its training; who: setup, reading, ..."""
        own = self.rows
        for column, value in ({"attack": "basic", "reading": LITERAL, "setting": ""} | who).items():
            own = own[own[column] == value]
        return [100 * float(value) for value in own[metric or METRICS[who.get("attack", "basic")]]]

    def utility(self, **who: str) -> list[float]:
        """The utility of each seed and setup."""
        return [value for setup in self.setups for value in self.values(UTILITY, setup=setup, **who)]

    def printed(self, setup: str, method: str, metric: str) -> float:
        """The printed number, nan if there is none."""
        target = setup.partition("_")[2].replace("lipstick", "wearing_lipstick")
        return float(self._printed.get((target, method, f"{metric}_accuracy"), np.nan))


def summary(values: list[float]) -> str:
    """Mean, half the 95% interval and number of seeds, as text."""
    if not values:
        return ""
    mean, low, high = interval(values)
    return f"{mean:.1f}" + (f" ± {(high - low) / 2:.1f}" if len(values) > 1 else "") + f" ({len(values)})"


def number(value: float) -> str:
    """A printed number."""
    return "" if np.isnan(value) else f"{value:.2f}"


def undefended(found: Measured, readings: list[str]) -> str:
    """No defense: each attack under each reading, and how far that is from the paper."""
    attacks = [attack for attack in METRICS if (found.rows["attack"] == attack).any()]
    columns = list(product(attacks, found.setups))
    printed = [found.printed(setup, "none", attack) for attack, setup in columns]

    def lines() -> Iterator[list[str]]:
        yield ["printed", *map(number, printed), "", ""]
        for reading in readings:
            # What an attack at inference sees does not depend on what is seen in training.
            seen = [
                found.values(attack=attack, setup=setup, reading=reading, defense="none")
                or found.values(attack=attack, setup=setup, defense="none")
                for attack, setup in columns
            ]
            apart = [abs(np.mean(own) - meant) for own, meant in zip(seen, printed, strict=True) if own]
            utility = summary(found.utility(reading=reading, defense="none"))
            yield [reading, *map(summary, seen), utility, f"{np.mean(apart):.1f}"]

    names = [f"{attack}, {setup}" for attack, setup in columns]
    return markdown(["reading", *names, "utility", "mean distance"], lines(), "l" + ">" * (len(columns) + 2))


def defended(found: Measured, setup: str, readings: list[str], first: dict[str, str]) -> str:
    """The basic attack on one setting of each defense under each reading; `first` has the settings."""

    def lines() -> Iterator[list[str]]:
        yield ["printed", *(number(found.printed(setup, defense, "basic")) for defense in first)]
        for reading in readings:
            own = (found.values(setup=setup, reading=reading, defense=d, setting=s) for d, s in first.items())
            yield [reading, *map(summary, own)]

    names = [f"{defense} {setting}".strip() for defense, setting in first.items()]
    return markdown(["reading", *names], lines(), "l" + ">" * len(first))


def grids(found: Measured, setup: str) -> str:
    """Every setting of every defense under the literal reading; the one that the paper's rule chooses is marked."""
    own = found.rows
    own = own[(own["setup"] == setup) & (own["reading"] == LITERAL) & (own["attack"] == "basic")]
    points = own.groupby(["defense", "setting"], sort=False)[[UTILITY, METRICS["basic"]]]
    points = points.agg(lambda values: values.astype(float).mean()).set_axis(["utility", "leak"], axis=1)

    def lines() -> Iterator[list[str]]:
        for defense, settings in points.groupby(level=0, sort=False):
            chosen, within = choose(settings.droplevel(0), points.loc[("none", ""), "utility"], WITHIN)
            for setting in settings.index.get_level_values(1):
                rule = ("chosen" if within else "most useful") if setting == chosen else ""
                yield [f"{defense} {setting}".strip(), rule, *cells(str(defense), setting, bool(rule))]

    def cells(defense: str, setting: str, shown: bool) -> Iterator[str]:
        who = {"setup": setup, "defense": defense, "setting": setting}
        ours = {"utility": found.values(UTILITY, **who)} | {a: found.values(attack=a, **who) for a in ("basic", "dpa")}
        for metric, values in ours.items():
            yield summary(values)
            yield number(found.printed(setup, defense, metric)) if shown else ""

    names = [name for metric in ("utility", "basic", "dpa") for name in (metric, "printed")]
    return markdown(["defense", "rule", *names], lines(), "ll" + ">" * 6)


def of_tcpo(found: Measured, ways: dict[str, str], setting: str) -> str:
    """tcpo in one setting, in each way: `ways` has its reading."""

    def lines() -> Iterator[list[str]]:
        for name, reading in ways.items():
            who = {"reading": reading, "defense": "tcpo", "setting": setting}
            accuracy = [summary(found.values(setup=setup, **who)) for setup in found.setups]
            auc = [summary(found.values("attack_auc", setup=setup, **who)) for setup in found.setups]
            yield [name, *accuracy, *auc, summary(found.utility(**who))]

    names = [f"{setup}, {metric}" for metric in ("accuracy", "AUC") for setup in found.setups]
    return markdown(["tcpo", *names, "utility"], lines(), "l" + ">" * (len(names) + 1))
