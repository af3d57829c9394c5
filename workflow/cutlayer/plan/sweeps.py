"""Settings of a variant: a single one, those of its sweep, or named ones."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

AS_DRAWN = "as_drawn"  # in an attack's place: what a defense drew for the labels, scored as if it were an attack
AUDITOR = "auditor"  # the same: who knows both gradients that a row may have, a white box
SCORED = (AS_DRAWN, AUDITOR)  # by the run itself
UNDEFENDED = "none"  # the variant that every comparison begins with
OWN = {"use", "sweep", "settings"}  # what a variant says besides parameters


def fixed_of(variant: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters that are equal in all settings."""
    return {key: value for key, value in variant.items() if key not in OWN}


def parameters_in(label: str) -> dict[str, str]:
    """Parameters in a label like "a=1,b=2"; none for a named setting."""
    pairs = [part.partition("=") for part in label.split(",")]
    return {name: value for name, equals, value in pairs if equals}


def settings_of(variant: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Parameters of each setting by label; without a sweep or names there is one setting, labeled ""."""
    fixed = fixed_of(variant)
    if "settings" in variant:
        return {label: fixed | dict(own) for label, own in variant["settings"].items()}
    sweep = variant.get("sweep", {})
    points = itertools.product(*sweep.values())
    return {
        ",".join(f"{k}={v}" for k, v in zip(sweep, point, strict=True)): fixed | dict(zip(sweep, point, strict=True))
        for point in points
    }
