"""The tables of `readings`: what was measured in each way of reading, and what the paper prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from table import markdown
from trials import ROOT

from cutlayer.ledger.selection import choose
from cutlayer.ledger.statistics import interval

PUBLISHED = ROOT / "workflow/papers/tcpo/published.csv"
WITHIN = 0.02  # of utility, of the rule that tables 3 to 5 choose a setting by
METRICS = {"basic": "attack_accuracy", "dpa": "attack_accuracy_max", "dsa": "attack_accuracy_max"}  # as the paper's


class Measured:
    """The rows of a measurement, and the printed numbers; all in percent."""

    def __init__(self, rows: pd.DataFrame) -> None:
        self.rows = rows
        self.setups = list(dict.fromkeys(rows["setup"]))
        self.printed = pd.read_csv(PUBLISHED).query("item != 'table3'").set_index(["target", "method", "metric"])["value"]

    def values(self, attack: str, setup: str, reading: str, defense: str, setting: str = "", metric: str = "") -> list:
        """One value a seed: of the attack, or of another metric of its training."""
        own = self.rows
        for column, value in zip(
            ("attack", "setup", "reading", "defense", "setting"), (attack, setup, reading, defense, setting), strict=True
        ):
            own = own[own[column] == value]
        return (100 * own[metric or METRICS[attack]].astype(float)).tolist()

    def paper(self, setup: str, method: str, metric: str) -> float:
        """The printed number, nan if there is none."""
        target = setup.partition("_")[2].replace("lipstick", "wearing_lipstick")
        return float(self.printed.get((target, method, metric), np.nan))


def told(values: list[float]) -> str:
    """Mean, half the 95% interval and how many seeds."""
    if not values:
        return ""
    mean, low, high = interval(values)
    return f"{mean:.1f}" + (f" ± {(high - low) / 2:.1f}" if len(values) > 1 else "") + f" ({len(values)})"


def number(value: float) -> str:
    """A printed number."""
    return "" if np.isnan(value) else f"{value:.2f}"


def undefended(found: Measured, readings: list[str]) -> str:
    """No defense: each attack under each reading, and how far that is from the paper."""
    columns = list(product(("basic", "dpa", "dsa"), found.setups))
    columns = [(attack, setup) for attack, setup in columns if not found.rows.query("attack == @attack").empty]
    first = ["printed", *(number(found.paper(setup, "none", f"{attack}_accuracy")) for attack, setup in columns), "", ""]

    def lines() -> Iterator[list[str]]:
        yield first
        for reading in readings:
            means, cells = [], []
            for attack, setup in columns:
                # What an attack at inference sees does not depend on what is seen in training.
                own = found.values(attack, setup, reading, "none") or found.values(attack, setup, "literal", "none")
                cells.append(told(own))
                means.append(abs(np.mean(own) - found.paper(setup, "none", f"{attack}_accuracy")) if own else np.nan)
            utility = [u for s in found.setups for u in found.values("basic", s, reading, "none", metric="test_accuracy")]
            yield [reading, *cells, told(utility), f"{np.mean(means):.1f}"]

    names = [f"{attack}, {setup}" for attack, setup in columns]
    return markdown(["reading", *names, "utility", "mean distance"], lines(), "l" + ">" * (len(columns) + 2))


def defended(found: Measured, setup: str, readings: list[str], first: dict[str, str]) -> str:
    """The basic attack on one setting of each defense under each reading; `first` has the settings."""
    columns = list(first)

    def lines() -> Iterator[list[str]]:
        yield ["printed", *(number(found.paper(setup, defense, "basic_accuracy")) for defense in columns)]
        for reading in readings:
            yield [reading, *(told(found.values("basic", setup, reading, d, first[d])) for d in columns)]

    names = [f"{defense} {setting}".strip() for defense, setting in first.items()]
    return markdown(["reading", *names], lines(), "l" + ">" * len(columns))


def grids(found: Measured, setup: str) -> str:
    """Every setting of every defense under the literal reading; the one that the paper's rule chooses is marked."""
    own = found.rows.query("setup == @setup and reading == 'literal' and attack == 'basic'")
    mean = own.astype({"test_accuracy": float, "attack_accuracy": float}).groupby(["defense", "setting"], sort=False)
    points = mean[["test_accuracy", "attack_accuracy"]].mean().set_axis(["utility", "leak"], axis=1)
    top = points.loc[("none", ""), "utility"]

    def lines() -> Iterator[list[str]]:
        for defense, settings in points.groupby(level=0, sort=False):
            chosen, within = choose(settings.droplevel(0), float(top), WITHIN)
            for setting in settings.index.get_level_values(1):
                utility = told(found.values("basic", setup, "literal", defense, setting, "test_accuracy"))
                seen = [told(found.values(attack, setup, "literal", defense, setting)) for attack in ("basic", "dpa")]
                mark = ("chosen" if within else "most useful") if setting == chosen and setting else ""
                of_paper = [
                    number(found.paper(setup, defense, f"{metric}_accuracy")) if mark or not setting else ""
                    for metric in ("utility", "basic", "dpa")
                ]
                yield [f"{defense} {setting}".strip(), mark, *(c for pair in zip([utility, *seen], of_paper) for c in pair)]

    names = [name for metric in ("utility", "basic", "dpa") for name in (metric, "printed")]
    return markdown(["defense", "rule", *names], lines(), "ll" + ">" * 6)


def taken(found: Measured, ways: dict[str, str], metrics: tuple[str, ...]) -> str:
    """tcpo at one threshold, by what L_p is taken of: `ways` has each one's reading; `metrics` of the first setup."""
    setting = "threshold=0.005"

    def lines() -> Iterator[list[str]]:
        for name, reading in ways.items():
            cells = [told(found.values("basic", s, reading, "tcpo", setting)) for s in found.setups]
            utility = [u for s in found.setups for u in found.values("basic", s, reading, "tcpo", setting, "test_accuracy")]
            more = [told(found.values("basic", found.setups[0], reading, "tcpo", setting, metric)) for metric in metrics]
            yield [name, *cells, told(utility), *more]

    columns = ["L_p is taken of", *found.setups, "utility", *(metric.replace("_", " ") for metric in metrics)]
    return markdown(columns, lines(), "l" + ">" * (len(columns) - 1))
