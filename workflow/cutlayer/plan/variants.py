"""Variants: methods with parameters under a short name, and the setups to which they apply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutlayer.core import failures
from cutlayer.core.errors import nearest

from . import plugins
from .checks import located
from .sweeps import fixed_of, settings_of


class Variants:
    """Checked defenses and attacks of a configuration."""

    def __init__(
        self, setups: Mapping[str, Any], variants: Mapping[str, Mapping[str, Any]], in_few: Mapping[str, Any] = {}
    ) -> None:
        """`in_few` has `setups`, and the `defenses` and `attacks` that are run in these alone."""
        self._setups, self._variants, self._in_few = setups, variants, in_few

    def method(self, kind: str, variant: str, game: str = "") -> plugins.Method:
        """Method that a variant uses, the game's own if several games have one of that name."""
        return plugins.method(kind, self._variants[kind][variant]["use"], game)

    def missing(self, kind: str, variant: str, setups: list[str]) -> str:
        """Reason why a method cannot be used in one of the setups; empty if it can."""
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
        """Reason why a method is not run in a setup: its number of classes, or the scale; empty if it is."""
        if variant in (self._in_few.get(f"{kind}s") or ()) and setup not in self._in_few["setups"]:
            return f"{failures.FEW}{', '.join(self._in_few['setups'])}"
        method = self.method(kind, variant)
        expected: set[int] = method.constants["classes"]
        classes = plugins.method("dataset", self._setups[setup]["dataset"]).constants["classes"]
        if not expected or classes in expected:
            return ""
        return f"{kind}.{method.name} is for {' or '.join(map(str, sorted(expected)))} classes"

    def reasons(self, kind: str, setups: list[str]) -> dict[str, str]:
        """Reason by variant of a kind why it cannot be used in all setups, or empty."""
        protocols = {self._setups[setup]["protocol"] for setup in setups if setup in self._setups}
        return {
            name: self.missing(kind, name, setups)
            for name, variant in self._variants[kind].items()
            if protocols & plugins.games(kind, variant["use"])
        }


def _aimless(attack: plugins.Method, protocol: str) -> str:
    """Reason why the protocol has no truth for an attack's guess; empty if it has."""
    targets, target = plugins.method("protocol", protocol).constants["targets"], attack.constants["target"]
    if target in targets:
        return ""
    wrong = f"attack.{attack.name} guesses {target!r}, which the protocol {protocol} does not hide"
    return f"{wrong}; {nearest(target, targets)}"


def checked(kind: str, name: str, variant: Mapping[str, Any], file: str) -> dict[str, Any]:
    """A variant of a file after a check of all its parameters, also those of its sweep and settings."""
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
