"""Environments: conda pins are those of the lock file, and the lock has everything asked for."""

from __future__ import annotations

import re

import pytest
import yaml

from .conftest import ROOT


def pins() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    return {name.lower().replace("_", "-"): version for name, version in (line.split("==") for line in lines)}


@pytest.mark.parametrize("file", sorted((ROOT / "envs").glob("*.yaml")), ids=lambda file: file.name)
def test_conda_pins_equal_the_lock(file) -> None:
    dependencies = yaml.safe_load(file.read_text())["dependencies"]
    (own,) = (entry["pip"] for entry in dependencies if isinstance(entry, dict))
    for pin in own:
        name, version = pin.split("==")
        assert pins()[name] == version


def test_the_lock_has_all_that_is_asked_for() -> None:
    asked = [line for line in (ROOT / "requirements.in").read_text().splitlines() if re.match(r"\w", line)]
    missing = {name.lower() for name in asked} - set(pins())
    assert not missing
