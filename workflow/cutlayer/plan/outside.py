"""Methods outside the tree (`make try`): those of a user's file or folder, and their exhibits in the arena.

`methods` of the configuration names the place. Each method there is a variant of its own name, with its defaults,
unless a methods.yaml next to it, in the form of params.yaml, defines others. Each gets one exhibit: the arena's of its
game, with all methods. Nothing else changes, and no finished run of the arena is repeated.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cutlayer.core import yamls
from cutlayer.core.errors import InputError

from . import plugins
from .checks import known, merged, validate
from .params_model import Methods

PAPER = "tried"  # the exhibits are under results/exhibits/tried/
LIKE = "digits_vs_rest"  # the setup in whose place a dataset is put, unless another is named
OF_ANOTHER = ("dataset", "model_of", "like")  # of that setup what is not for another dataset
ARENA, STRONGEST = "arena", "any_attack"  # where methods are tried, and the set of attacks that counts there
FOUND = ("inapplicable", "sensitive")  # what the plan says of an exhibit's setups
Config = Mapping[str, Any]
Exhibits = dict[str, dict[str, Any]]
Missing = Callable[[str, str, list[str]], str]


@dataclass(frozen=True)
class Outside:
    """Methods outside the tree with their variants and exhibits."""

    methods: Mapping[str, Mapping[str, Path]] = field(default_factory=dict)  # kind -> name -> file
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # kind -> variant -> as in params.yaml
    setups: tuple[str, ...] = ()  # in which to try; empty: those of the arena's exhibit

    def has(self, kind: str, variant: str) -> bool:
        """True if a variant is one of these."""
        return variant in self.variants.get(kind, {})

    def subject(self, name: str) -> tuple[str, str, list[str], str]:
        """Arguments of the sentence on a method: name, kind, its variants or setups, the attacks to compare with."""
        kind = next(kind for kind, found in self.methods.items() if name in found)
        variants = self.variants["setup" if kind == "dataset" else kind].items()
        own = [variant for variant, given in variants if given["dataset" if kind == "dataset" else "use"] == name]
        return name, kind, own, STRONGEST

    def added_to(self, config: Config) -> dict[str, Any]:
        """The configuration with these variants added to its own."""
        return {**config} | {f"{kind}s": {**config[f"{kind}s"], **own} for kind, own in self.variants.items()}


def read(config: Config) -> Outside:
    """The methods at the place that `methods` of a configuration names; none if it is empty.

    Raises:
        InputError: a method cannot be taken, or the tree has one, or a variant, of its name.

    """
    place = config.get("methods", "")
    methods, trying = plugins.look_in(place), config.get("trying", {})
    if not place:
        return Outside()
    given = _methods_yaml(Path(place).expanduser())
    variants = {kind: dict(given.get(f"{kind}s", {})) for kind in ("setup", "defense", "attack")}
    for kind in ("defense", "attack"):
        for name, variant in variants[kind].items():
            known(f"{kind} outside the tree", variant["use"], methods.get(kind, {}), f"methods {kind}s.{name}.use")
        for name in methods.get(kind, {}):
            if name not in {variant["use"] for variant in variants[kind].values()}:
                variants[kind][name] = {"use": name} | ({"sweep": trying["sweep"]} if "sweep" in trying else {})
    for name in methods.get("dataset", {}):
        if name not in {setup["dataset"] for setup in variants["setup"].values()}:
            variants["setup"][name] = _setup(name, trying.get("like", LIKE), config)
    for kind, own in variants.items():
        for name in own:
            if name in config[f"{kind}s"]:
                raise InputError(f"methods {kind}s.{name}", "params.yaml has one of that name", "expected another name")
    return Outside(methods, variants, tuple(trying.get("setups", ())))


def _setup(dataset: str, like: str, config: Config) -> dict[str, Any]:
    """A setup of a dataset with all other settings of another one, also its sizes at this scale."""
    known("setup", like, config["setups"], "trying.like")
    sizes = config["scales"][config["scale"]].get("setups", {}).get(like, {})
    setup = merged(config["setups"][like], sizes)
    return {key: part for key, part in setup.items() if key not in OF_ANOTHER} | {"dataset": dataset}


def _methods_yaml(place: Path) -> dict[str, Any]:
    """Content of a folder's methods.yaml; empty if there is none."""
    file = place / "methods.yaml"
    if not file.is_file():
        for other in place.glob("*.y*ml"):
            if other.stem.lower() == file.stem:
                raise InputError(f"methods.{other}", "is not read", f"expected {file.name}")
        return {}
    content: dict[str, Any] = yamls.read(file) or {}
    validate(content, Methods, str(file))
    return content


def exhibits(outside: Outside, papers: Mapping[str, Any], games: Mapping[str, str], missing: Missing) -> Exhibits:
    """Exhibits of the methods by name, one each; `games` has the protocol of each setup.

    `missing` says why a variant cannot be used in setups, or nothing: of the arena's own those are left out.
    """
    for setup in outside.setups:
        known("setup", setup, games, "trying.setups")
    found: Exhibits = {}
    arenas = _arenas(papers, games)
    for kind in ("defense", "attack"):
        for name in outside.methods.get(kind, {}):
            base, own = _arena(f"{kind}.{name}", plugins.games(kind, name), arenas), outside.subject(name)[2]
            setups = list(outside.setups) or [s for s in base["setups"] if not any(missing(kind, n, [s]) for n in own)]
            base["setups"] = setups or base["setups"]  # where it can be used in none the check says why
            found[name] = (_of_defense if kind == "defense" else _of_attack)(base, name, own)
    for name in outside.methods.get("dataset", {}):
        own = outside.subject(name)[2]
        base = _arena(f"dataset.{name}", {games[own[0]]}, arenas)
        found[name] = base | {"title": f"The arena on {name}", "printed": [name], "setups": own}
    return found


def _arenas(papers: Mapping[str, Any], games: Mapping[str, str]) -> Exhibits:
    """The arena's exhibit of each game: leak to the strongest attack against utility."""
    found: Exhibits = {}
    for exhibit in papers.get(ARENA, {}).get("exhibits", {}).values():
        if exhibit["draw"]["use"] == "frontier" and STRONGEST in exhibit.get("worst", {}).get("among", {}):
            found.setdefault(games[exhibit["setups"][0]], exhibit)
    return found


def _arena(where: str, games: Iterable[str], arenas: Exhibits) -> dict[str, Any]:
    """The arena's exhibit of one game, as in paper.yaml."""
    for game in sorted(games):
        if game in arenas:
            return copy.deepcopy({key: part for key, part in arenas[game].items() if key not in FOUND})
    wrong = f"the paper {ARENA} has no exhibit of its game, {' or '.join(sorted(games))}"
    raise InputError(where, wrong, f"it has those of {', '.join(sorted(arenas)) or 'none'}")


def _of_defense(base: dict[str, Any], name: str, own: Iterable[str]) -> dict[str, Any]:
    return base | {
        "title": f"{name} in the arena",
        "caption": f"{base['caption']} The defense {name} is drawn large.",
        "printed": [name],
        "defenses": [*base["defenses"], *own],
        "draw": base["draw"] | {"highlight": ", ".join(own)},
    }


def _of_attack(base: dict[str, Any], name: str, own: Iterable[str]) -> dict[str, Any]:
    worst = base["worst"]
    return base | {
        "title": f"{name} in the arena",
        "caption": f"{base['caption']} Here left all attacks of the arena, right {name} alone.",
        "printed": [name],
        "attacks": [*base["attacks"], *own],
        "worst": worst | {"among": worst["among"] | {variant: [variant] for variant in own}},
        "draw": base["draw"] | {"only": ", ".join([STRONGEST, *own])},
    }
