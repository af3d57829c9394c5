"""`make try`: contract tests of a user's file, the arena of its game with it, and a sentence on the result.

Called with KEY=VALUE (DEFENSE, ATTACK, DATASET, SETUPS, SETTINGS, LIKE, TRANSCRIPTS; empty: not given) and, after `--`,
how Snakemake is called. With TRANSCRIPTS nothing runs but the attack, on what a release packed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from cutlayer.core import yamls
from cutlayer.core.errors import InputError, nearest
from cutlayer.core.files import replacing
from cutlayer.plan import plugins

from . import environment

KINDS = ("defense", "attack", "dataset")
KEYS = (*KINDS, "setups", "settings", "like", "transcripts")
CONFIG = Path("logs/try.yaml")
EXHIBITS = Path("results/exhibits/tried")
JUDGED = Path("results/judged")  # where Snakemake has nothing


def main(arguments: Sequence[str]) -> int:
    """Run all three steps; the exit status is that of the first that fails."""
    given, snakemake = arguments[: arguments.index("--")], arguments[arguments.index("--") + 1 :]
    try:
        pairs = {key.lower(): value for key, _, value in (pair.partition("=") for pair in given)}
        config, transcripts = configured(pairs), pairs.get("transcripts", "")
        methods = plugins.look_in(config["methods"])
        names = {name: plugins.method(kind, name).name for kind, found in methods.items() for name in found}
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    with replacing(CONFIG) as temporary:
        temporary.write_text(yaml.safe_dump(config), encoding="utf-8")
    if status := subprocess.run(contract_tests(config["methods"]), check=False).returncode:
        return status
    if transcripts:
        return judge(config, Path(transcripts).expanduser())
    if status := subprocess.run([*snakemake, "tried", "--configfile", str(CONFIG)], check=False).returncode:
        return status
    for name in names:
        _say(EXHIBITS / f"{name}.txt")
    return 0


def judge(config: Mapping[str, Any], transcripts: Path) -> int:
    """Judge an attack on released transcripts, with the one thread that a job has; the exit status."""
    environment.prepare("")
    from cutlayer.plan.plan import Plan
    from cutlayer.stages import released  # numerical libraries read their threads when they are imported

    try:
        plan = Plan(yamls.read("params.yaml") | config | {"scale": released.SCALE})
        for sentence in released.judge(plan, transcripts, JUDGED):
            _say(sentence)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _say(sentence: Path) -> None:
    """Print the sentence on a method, and where its picture is."""
    print(f"{sentence.read_text(encoding='utf-8')}{sentence.with_suffix('.png')}")


def configured(given: dict[str, str]) -> dict[str, Any]:
    """Snakemake's configuration for the arguments of `make try`."""
    given = {key: value for key, value in given.items() if value}
    for key in sorted(given.keys() - set(KEYS)):
        raise InputError("make try", f"there is no {key.upper()}=", nearest(key.upper(), map(str.upper, KEYS)))
    files = [Path(given[kind]).expanduser() for kind in KINDS if kind in given]
    if len(files) != 1:
        expected = "expected one of DEFENSE=path/to/mine.py, ATTACK=... and DATASET=..."
        raise InputError("make try", f"has {len(files)} files", expected)
    if not files[0].is_file():
        raise InputError("make try", f"there is no file {files[0]}", "expected a path as seen from this folder")
    if "transcripts" in given and "attack" not in given:
        raise InputError("make try", "TRANSCRIPTS= is for an attack", "expected ATTACK=path/to/mine.py")
    trying: dict[str, Any] = {"setups": given["setups"].replace(",", " ").split()} if "setups" in given else {}
    if "like" in given:
        trying["like"] = given["like"]
    if "settings" in given:
        trying["sweep"] = _sweep(given["settings"])
    return {"methods": os.fspath(files[0].resolve())} | ({"trying": trying} if trying else {})


def _sweep(text: str) -> dict[str, list[Any]]:
    """Values by parameter from a YAML mapping; a single value becomes a list."""
    content = yamls.load(text, f"make try SETTINGS={text!r}")
    if not isinstance(content, dict):
        raise InputError("make try", f"SETTINGS={text!r} is no mapping", "expected SETTINGS='{strength: [0.1, 1.0]}'")
    return {key: values if isinstance(values, list) else [values] for key, values in content.items()}


def contract_tests(methods: str) -> list[str]:
    """Command that runs the contract tests on these methods alone."""
    quiet = ["--override-ini=addopts=", "--quiet", "--no-header", "--tb=no", "-rN", "-p", "no:cacheprovider"]
    contracts = ["tests/games", "tests/data", "tests/plan/test_plugins.py"]
    return [sys.executable, "-m", "pytest", *contracts, "--methods", methods, *quiet]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
