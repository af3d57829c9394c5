"""Choice of each defense's setting for a table: the most private one within a limited loss of utility.

A rule names the metric that is a run's `utility`, the `attack` and its metric, the `leak`, and `within`, by how much
the mean utility over seeds may be below that of the undefended run. Of the settings within, the one of least mean leak
is chosen; if none is within, the one of most utility, and its name says so.

Whoever takes the best of many settings on the very runs that he reports, reports luck as privacy. So for each seed the
setting is chosen by means over all *other* seeds (leave-one-out), and what it gets on this seed is what counts. Where
seeds choose differently, the name has each setting with the number of its seeds.

Yu, Xiang, Wang, Long, "Privacy-Preserving Split Learning via Pareto Optimal Search", sections 6.2 and 6.3: "the best
privacy performance and within 1 - 2% utility decline in each method".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd

from cutlayer.core import failed_cells, failures
from cutlayer.plan.sweeps import UNDEFENDED

from .statistics import ROUNDING

Rule = Mapping[str, Any]
NOTHING = f"{failures.PREFIX}no utility and leak to choose a setting by"
NONE_NEAR = "(none within"  # in the name of a setting that the rule does not allow
BESIDE = " / "  # in a name, settings that different seeds chose
ONE_SEED = f"{failures.REDUCED}the setting is chosen on other seeds, and there is one"


def chosen(cells: pd.DataFrame, rule: Rule) -> pd.DataFrame:
    """Cells of the chosen settings, from an exhibit's cells seed by seed (see `cells.gather`).

    What a method skipped as a whole stays. A defense of which no setting has both numbers on other seeds, or that has
    no undefended run beside it, keeps one row, which says so.
    """
    parts = []
    for _, setup in cells.groupby("setup", sort=False):
        points = _points(setup, rule)
        for defense, own in setup.groupby("defense", sort=False):
            parts.append(_of_defense(own, points, str(defense), rule["within"]))
    return pd.concat(parts, ignore_index=True)


def choose(points: pd.DataFrame, undefended: float, within: float) -> tuple[str, bool]:
    """Label of the chosen setting, and whether it is within the limit; `points` (settings x utility, leak) has no NaN.

    Of equals the first counts.
    """
    near = points[undefended - points["utility"] <= within + ROUNDING]
    least = -points["utility"] if near.empty else near["leak"]
    return str(least.index[least <= least.min() + ROUNDING][0]), not near.empty


def _points(setup: pd.DataFrame, rule: Rule) -> pd.DataFrame:
    """Table of utility and leak by defense, setting and seed."""
    utility = setup[(setup["attack"] == "") & (setup["metric"] == rule["utility"])]
    leak = setup[(setup["attack"] == rule["attack"]) & (setup["metric"] == rule["leak"])]
    parts = [part.groupby(["defense", "setting", "seed"], sort=False)["value"].mean() for part in (utility, leak)]
    return pd.concat(parts, axis=1, keys=["utility", "leak"])


def _of_defense(own: pd.DataFrame, points: pd.DataFrame, defense: str, within: float) -> pd.DataFrame:
    if (own["skipped"] != "").all():
        return own
    several = points.query("defense == @defense").dropna().index.unique("setting").size > 1
    seeds = [seed for seed in own["seed"].unique() if seed >= 0]  # facts of the data have none
    picks = {}
    for seed in seeds:
        others = points.query("seed != @seed") if several else points
        if (pick := _pick(others, defense, within)) is None:
            return _unchosen(own, ONE_SEED if several and len(seeds) == 1 else NOTHING)
        picks[seed] = pick
    settings, name = {seed: setting for seed, (setting, _) in picks.items()}, _name(list(picks.values()), within)
    kept = own[(own["setting"] == own["seed"].map(settings)) | ((own["setting"] == "") & (own["skipped"] != ""))]
    return kept.assign(setting=kept["setting"].mask(kept["setting"].isin(settings.values()), name))


def _pick(points: pd.DataFrame, defense: str, within: float) -> tuple[str, bool] | None:
    """Setting chosen by means over the seeds of the points; None if there is no choice."""
    means = points.groupby(["defense", "setting"], sort=False).mean()
    undefended = means["utility"].get((UNDEFENDED, ""), float("nan"))
    complete = means.query("defense == @defense").dropna().droplevel("defense")
    return None if complete.empty or pd.isna(undefended) else choose(complete, undefended, within)


def _name(picks: list[tuple[str, bool]], within: float) -> str:
    """Label of the settings that the seeds chose."""
    notes = {True: "", False: f"{NONE_NEAR} {100 * within:g} points)"}
    seeds = Counter(f"{setting} {notes[near]}".strip() for setting, near in picks)
    if len(seeds) == 1:
        return next(iter(seeds))
    return BESIDE.join(f"{name} in {count} of {len(picks)}" for name, count in seeds.most_common())


def _unchosen(own: pd.DataFrame, reason: str) -> pd.DataFrame:
    """Row with the reason in place of all settings, or the failed rows."""
    failed = own["skipped"][failed_cells.among(own)]
    reason_shown = failed.iloc[0] if len(failed) else reason
    return own.head(1).assign(setting="", attack="", metric="", value=float("nan"), skipped=reason_shown)
