"""`make try`: the contract tests on a file of one's own, the arena of its game with it, and one sentence.

Called with KEY=VALUE (DEFENSE, ATTACK, DATASET, SETUPS, SETTINGS, LIKE; empty: not given) and, after `--`, how
Snakemake is called.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from cutlayer.core import yamls
from cutlayer.core.errors import InputError, nearest
from cutlayer.core.files import replacing
from cutlayer.plan import plugins

KINDS = ("defense", "attack", "dataset")
KEYS = (*KINDS, "setups", "settings", "like")
CONFIG = Path("logs/try.yaml")
EXHIBITS = Path("results/exhibits/tried")


def main(arguments: Sequence[str]) -> int:
    """Do all three; the exit status is that of the first that fails."""
    given, snakemake = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    try:
        config = asked({key.lower(): value for key, _, value in (pair.partition("=") for pair in given)})
        methods = plugins.look_in(config["methods"])
        names = {name: plugins.method(kind, name).name for kind, found in methods.items() for name in found}
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    with replacing(CONFIG) as temporary:
        temporary.write_text(yaml.safe_dump(config), encoding="utf-8")
    if status := subprocess.run(contract_tests(config["methods"]), check=False).returncode:
        return status
    if status := subprocess.run([*snakemake, "tried", "--configfile", str(CONFIG)], check=False).returncode:
        return status
    for name in names:
        print(f"{(EXHIBITS / f'{name}.txt').read_text(encoding='utf-8')}{EXHIBITS / f'{name}.png'}")
    return 0


def asked(given: dict[str, str]) -> dict[str, Any]:
    """What Snakemake's configuration gets, of what `make try` was given."""
    said = {key: value for key, value in given.items() if value}
    for key in sorted(said.keys() - set(KEYS)):
        raise InputError("make try", f"there is no {key.upper()}=", nearest(key.upper(), map(str.upper, KEYS)))
    files = [Path(said[kind]).expanduser() for kind in KINDS if kind in said]
    if len(files) != 1:
        meant = "one of DEFENSE=path/to/mine.py, ATTACK=... and DATASET=... is meant"
        raise InputError("make try", f"has {len(files)} files", meant)
    if not files[0].is_file():
        raise InputError("make try", f"there is no file {files[0]}", "a path as seen from this folder is meant")
    trying: dict[str, Any] = {"setups": said["setups"].replace(",", " ").split()} if "setups" in said else {}
    if "like" in said:
        trying["like"] = said["like"]
    if "settings" in said:
        trying["sweep"] = _sweep(said["settings"])
    return {"methods": os.fspath(files[0].resolve())} | ({"trying": trying} if trying else {})


def _sweep(text: str) -> dict[str, list[Any]]:
    """Parameter -> values, of a YAML mapping; a value alone is a list of one."""
    content = yamls.load(text, f"make try SETTINGS={text!r}")
    if not isinstance(content, dict):
        raise InputError("make try", f"SETTINGS={text!r} is no mapping", "SETTINGS='{strength: [0.1, 1.0]}' expected")
    return {key: values if isinstance(values, list) else [values] for key, values in content.items()}


def contract_tests(methods: str) -> list[str]:
    """The command that runs them on these methods alone."""
    quiet = ["--override-ini=addopts=", "--quiet", "--no-header", "--tb=no", "-rN", "-p", "no:cacheprovider"]
    return [
        sys.executable,
        "-m",
        "pytest",
        "tests/games",
        "tests/data",
        "tests/plan/test_plugins.py",
        "--methods",
        methods,
        *quiet,
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
