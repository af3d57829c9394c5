"""Sizes of setups and methods at a scale, and which of them are smaller than at the paper's scale.

The sizes of a scale are compared with those of scale `paper`; no list names what is reduced.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

from .checks import known, merged
from .sweeps import fixed_of

FULL_SCALE = "paper"
NOT_RESULTS = {
    "defenses",
    "timed_steps",
}  # of a setup: a run's own defense is compared with itself, times are no results
Config = Mapping[str, Any]


def sized(sizes: Mapping[str, Any], name: str, setup: Mapping[str, Any]) -> dict[str, Any]:
    """A setup merged over the scale's sizes of its protocol, its model and itself."""
    return reduce(merged, (layer for _, layer in layers(sizes, name, setup)), {})


def layers(sizes: Mapping[str, Any], name: str, setup: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Layers of a setup by their place in the scale, a later one overriding; last the setup itself.

    A setup that is `like` another has the sizes of both.
    """
    model, names = setup["model"]["use"], [setup["like"], name] if "like" in setup else [name]
    return [
        (f"models.{model}", {"model": sizes.get("models", {}).get(model, {})}),
        (setup["protocol"], sizes.get(setup["protocol"], {})),
        *((f"setups.{one}", sizes.get("setups", {}).get(one, {})) for one in names),
        ("", setup),
    ]


def smaller(config: Config, scale: str) -> dict[str, dict[str, str]]:
    """Setups, defenses and attacks that differ from the paper's scale: kind -> name -> what differs.

    The settings of a sweep that are run do not count: each is the same as among more.
    """
    known("scale", FULL_SCALE, config["scales"], "params.yaml scales")
    ours, paper = config["scales"][scale], config["scales"][FULL_SCALE]
    setups = {name: (sized(ours, name, s), sized(paper, name, s)) for name, s in config["setups"].items()}
    pairs = {"setup": setups} | {kind: _methods(config, kind, ours, paper) for kind in ("defense", "attack")}
    return {kind: {n: text for n, pair in own.items() if (text := _differing(*pair))} for kind, own in pairs.items()}


def _methods(
    config: Config, kind: str, ours: Mapping[str, Any], paper: Mapping[str, Any]
) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    return {
        name: (
            _fixed(variant, ours.get(f"{kind}s", {}).get(name)),
            _fixed(variant, paper.get(f"{kind}s", {}).get(name)),
        )
        for name, variant in config[f"{kind}s"].items()
    }


def _fixed(variant: Mapping[str, Any], over: Mapping[str, Any] | None) -> dict[str, Any]:
    return fixed_of(merged(variant, over or {}))


def _differing(ours: Mapping[str, Any], paper: Mapping[str, Any]) -> str:
    keys = sorted({*ours, *paper} - NOT_RESULTS - (set() if "passive" in ours else {"subsets"}))
    return ", ".join(key for key in keys if ours.get(key) != paper.get(key))
