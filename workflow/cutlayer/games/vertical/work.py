"""How much work a setup of the vertical protocol is, told from its sizes alone, and the same setup with less of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .windows import windows

WIDER = 8  # times as much
Settings = Mapping[str, Any]


def amounts(settings: Settings, facts: Settings) -> dict[str, float]:
    """What the time of a run grows with, once the model is trained: windows."""
    return {"windows": float(_windows(settings, facts))}


def small(settings: Settings, facts: Settings, steps: int) -> dict[str, Any]:
    """The setup with as few windows and subsets of the predictions as show it; its model is the real one."""
    found = dict(settings)
    if "subsets" in settings:
        found["subsets"] = {**settings["subsets"], "repeats": 1}
    if "passive" not in settings:
        found["windows"] = {**settings["windows"], **_few(settings["windows"], 3, 1)}
    return found


def wider(settings: Settings, facts: Settings, steps: int) -> dict[str, Any]:
    """What attacks are tried on besides what `small` makes: more windows."""
    return more(small(settings, facts, steps), facts, "windows", WIDER)


def more(settings: Settings, facts: Settings, amount: str, times: int) -> dict[str, Any]:
    """What `small` made, with so many times the windows, as far as there are so many."""
    return {**settings, "windows": {**settings["windows"], "starts": times * settings["windows"]["starts"]}}


def cases(settings: Settings, facts: Settings, attack: Settings, target: str) -> float:
    """What the time of an attack grows with: windows, and subsets of the predictions."""
    return float(_windows(settings, facts) * _subsets(settings))


def entries(settings: Settings, facts: Settings) -> dict[str, float]:
    """How many entries the arrays of transcript and truth have that grow with the setup, by name."""
    count = float(_windows(settings, facts))
    return dict.fromkeys(("scores", "weights", "bias", "windows"), count) | {"subsets": float(_subsets(settings))}


def _few(wanted: Settings, sizes: int, starts: int) -> dict[str, Any]:
    listed = isinstance(wanted["sizes"], (list, str)) and wanted["sizes"] != "all"
    return {"starts": starts} | ({} if listed else {"sizes": sizes})


def _windows(settings: Settings, facts: Settings) -> int:
    named = settings.get("passive")
    return 1 if named else len(windows(facts["features"], settings["windows"], None, facts["feature_names"]))


def _subsets(settings: Settings) -> int:
    wanted = settings.get("subsets")
    if not wanted:
        return 1
    sizes = wanted["sizes"]
    return (len(sizes) if isinstance(sizes, list) else int(sizes)) * int(wanted["repeats"])
