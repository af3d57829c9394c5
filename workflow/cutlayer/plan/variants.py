"""Variants: methods with parameters under a short name, and to which setups they apply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutlayer.core.errors import nearest

from . import plugins
from .checks import located
from .sweeps import fixed_of, settings_of


class Variants:
    """The checked defenses and attacks of a configuration."""

    def __init__(self, setups: Mapping[str, Any], variants: Mapping[str, Mapping[str, Any]]) -> None:
        self._setups, self._variants = setups, variants

    def method(self, kind: str, variant: str, game: str = "") -> plugins.Method:
        """The plugin that a variant uses, the game's own if several have one of that name."""
        return plugins.method(kind, self._variants[kind][variant]["use"], game)

    def missing(self, kind: str, variant: str, setups: list[str]) -> str:
        """Why a method cannot be used in one of the setups; empty when it can."""
        for setup in setups:
            settings = self._setups.get(setup, {})
            method = self.method(kind, variant, settings.get("protocol", ""))
            if settings.get("protocol") not in method.constants["games"]:
                return f"{kind}.{method.name} is not for the protocol {settings.get('protocol')}"
            if kind == "attack" and (reason := _aimless(method, settings["protocol"])):
                return reason
            for key in sorted(method.constants["needs"]):
                if key not in settings:
                    return f"setup {setup} has no {key!r}, which {kind}.{method.name} needs"
        return ""

    def unfit(self, kind: str, variant: str, setup: str) -> str:
        """Why a method does not apply to a setup's number of classes; empty when it does."""
        method = self.method(kind, variant)
        meant: set[int] = method.constants["classes"]
        classes = plugins.method("dataset", self._setups[setup]["dataset"]).constants["classes"]
        if not meant or classes in meant:
            return ""
        return f"{kind}.{method.name} is for {' or '.join(map(str, sorted(meant)))} classes"

    def reasons(self, kind: str, setups: list[str]) -> dict[str, str]:
        """For each variant of a kind that some setup's protocol has: why it cannot be used in all of them, or empty."""
        protocols = {self._setups[setup]["protocol"] for setup in setups if setup in self._setups}
        return {
            name: self.missing(kind, name, setups)
            for name, variant in self._variants[kind].items()
            if protocols & plugins.games(kind, variant["use"])
        }


def _aimless(attack: plugins.Method, protocol: str) -> str:
    """Why an attack guesses nothing that the protocol knows the truth of; empty when it does."""
    targets, target = plugins.method("protocol", protocol).constants["targets"], attack.constants["target"]
    if target in targets:
        return ""
    wrong = f"attack.{attack.name} guesses {target!r}, which the protocol {protocol} does not hide"
    return f"{wrong}; {nearest(target, targets)}"


def checked(kind: str, name: str, variant: Mapping[str, Any], file: str) -> dict[str, Any]:
    """A variant of a file as it is, once all its parameters, those of its sweep and settings too, are as meant."""
    with located(f"{file} {kind}s.{name}"):
        plugins.check_parameters(kind, variant["use"], fixed_of(variant))
        for parameter, values in variant.get("sweep", {}).items():
            for value in values:
                plugins.check_parameters(kind, variant["use"], {parameter: value})
        for setting in variant.get("settings", {}).values():
            plugins.check_parameters(kind, variant["use"], setting)
        for setting in settings_of(variant).values():
            plugins.check_given(kind, variant["use"], setting)
    return dict(variant)
