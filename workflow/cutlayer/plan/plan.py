"""The plan: params.yaml and the papers, checked and expanded before anything runs.

Imports no numerical library: the Snakefile is parsed again in every remote job.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cutlayer.core.errors import InputError, few
from cutlayer.metrics import declared

from . import check_lines, families, limits, outside, parts, plugins
from .checks import known, located, merged, validate
from .grains import Grain, grains
from .paper_model import Paper
from .params_model import Params, Scale
from .sizes import sized, smaller
from .styles import styles
from .sweeps import SCORED, UNDEFENDED, parameters_in, settings_of
from .variants import Variants, checked

WORKFLOW = Path(__file__).parents[2]
COMMON_KEYS = {"protocol", "dataset", "sensitive", "defenses", "like"}
OF_DATASET = ("sensitive", "partition")  # keys that name one of the dataset's attributes
WATCHED = "watched"  # the target of attacks that follow single rows
ADJUSTED = {"leak_auc_adjusted"}  # metrics that need what features alone predict
ANY_DATA = "all"  # a claim may speak of
SWITCHES = {"true": True, "false": False}  # --config passes them on as text
SAME_TRUTH = ("protocol", "dataset", "sensitive")  # what a setup shares with the one its attack is measured in
SAME_MODEL = ("protocol", "dataset", "model", "fit_on")  # what a setup shares with the one it is `model_of`, or `like`


class Plan:
    """Checked configuration: scale, setups, variants, papers and their exhibits."""

    def __init__(self, config: Mapping[str, Any], folder: Path = WORKFLOW) -> None:
        self.folder = folder
        config = {key: SWITCHES.get(value, value) if isinstance(value, str) else value for key, value in config.items()}
        params = validate(config, Params, "params.yaml")
        known("scale", params.scale, params.scales, "params.yaml")
        self.scales, self._config = [*params.scales], config  # the smallest first
        written, self.outside = config, outside.read(config)
        config = self.outside.added_to(config)
        self.scale = params.scale
        self.sizes: dict[str, Any] = config["scales"][self.scale]
        scale = params.scales[self.scale]
        self.seeds = range(scale.seeds)
        self.cluster = scale.cluster
        self.evaluations = scale.matching.evaluations if scale.matching else 0  # of a strength, for one target
        self.stand_ins = params.stand_ins
        # Setup -> parameters that it changes in defenses, at any scale and at this one.
        self._changes: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {}
        self.setups = {name: self._setup(name, setup) for name, setup in config["setups"].items()}
        for name, setup in self.setups.items():
            self._check_origin(name, setup)
        self._grain = {setup: grain for grain in self._grains(scale) for setup in grain.setups}
        self.defenses = self._checked("defense", config["defenses"])
        self._own = {
            name: self._adapted(name, config["defenses"], own) for name, own in self._changes.items() if any(own)
        }
        self.attacks = self._checked("attack", config["attacks"])
        self.variants = Variants(self.setups, {"defense": self.defenses, "attack": self.attacks}, self._in_few())
        self.matches: dict[tuple[str, str], dict[str, Any]] = {}  # (setup, defense) -> what its strength is tuned to
        self.papers = {name: self._paper(name) for name in config["papers"]}
        self.tried = self._trying()
        self._cut(scale.only_published, config.get("only", {}))
        self.judged_at = {"name": self.scale, "reduced": smaller(written, self.scale), "numbers": scale.printed_numbers}
        self.judged_at["absent"] = parts.NOT_RUN if self.in_part else ""

    def at(self, scale: str) -> Plan:
        """The plan of the same at another scale."""
        return self if scale == self.scale else Plan(self._config | {"scale": scale}, self.folder)

    def _cut(self, only_published: bool, only: Mapping[str, Any]) -> None:
        """Reduce the papers to the requested part; `left_out` says which exhibits cannot be cut."""
        for kind, names in only.items():
            there: Mapping[str, Any] = {"setups": self.setups, "defenses": self.defenses, "attacks": self.attacks}[kind]
            for name in names:
                known(kind.removesuffix("s"), name, there, f"only.{kind}")
        self.in_part, self.left_out = bool(only_published or only), list[str]()
        if only_published:
            self.papers = parts.of_numbers(self.papers)
        if only:
            self.papers, self.left_out = parts.of_names(self.papers, only)

    def _in_few(self) -> Mapping[str, Any]:
        """The methods that the scale runs in some setups alone, and these."""
        few: Mapping[str, Any] = self.sizes.get("in_few_setups", {})
        there = {"setups": self.setups, "defenses": self.defenses, "attacks": self.attacks}
        where = f"params.yaml scales.{self.scale}.in_few_setups"
        for kind, names in few.items():
            for name in names:
                known(kind.removesuffix("s"), name, there[kind], f"{where}.{kind}")
        return few

    def _grains(self, scale: Scale) -> Iterator[Grain]:
        """Job granularity of the setups."""
        lists = {key: [*(getattr(scale, key) or [])] for key in ("one_seed_a_job", "temporary")}
        for key, names in lists.items():
            for name in names:
                known("setup", name, self.setups, f"params.yaml scales.{self.scale}.{key}")
            names += [name for name, setup in self.setups.items() if setup.get("like") in names]
        yield from grains(self.setups, *lists.values())

    @property
    def grains(self) -> list[Grain]:
        """All job granularities of the setups."""
        return list(dict.fromkeys(self._grain.values()))

    def temporary(self, setup: str) -> bool:
        """True if a setup's transcripts are deleted once all jobs that read them are done."""
        return self._grain[setup].temporary

    def _checked(
        self, kind: str, variants: Mapping[str, Any], last: Mapping[str, Any] = {}
    ) -> dict[str, dict[str, Any]]:
        """The variants of a kind, with what the scale says of them on top, and then what it says last."""
        over = self.sizes.get(f"{kind}s", {})
        for name in over:
            known(kind, name, variants, f"params.yaml scales.{self.scale}.{kind}s")
        files = {name: "methods" if self.outside.has(kind, name) else "params.yaml" for name in variants}
        final = {name: merged(merged(v, over.get(name, {})), last.get(name, {})) for name, v in variants.items()}
        return {name: checked(kind, name, variant, files[name]) for name, variant in final.items()}

    def _adapted(
        self, setup: str, defenses: Mapping[str, Any], own: tuple[Mapping[str, Any], Mapping[str, Any]]
    ) -> dict[str, dict[str, Any]]:
        """All defenses with the parameters that a setup sets for some of them.

        The scale is above the setup, and what the scale says of this very setup is above all.
        """
        where = f"params.yaml setups.{setup}.defenses"
        for name in itertools.chain(*own):
            known("defense", name, defenses, where)
        with located(where):
            return self._checked("defense", merged(defenses, own[0]), own[1])

    def defense(self, setup: str, name: str) -> dict[str, Any]:
        """A defense variant with the parameters of a setup."""
        return self._own.get(setup, self.defenses)[name]

    def _setup(self, name: str, setup: Mapping[str, Any]) -> dict[str, Any]:
        where = f"params.yaml setups.{name}"
        with located(where):
            protocol = plugins.method("protocol", setup["protocol"]).constants
            dataset = plugins.method("dataset", setup["dataset"]).constants
            model = plugins.method("model", setup["model"]["use"])
            full = sized(self.sizes, name, setup)
            plugins.check_parameters("model", *plugins.used(full["model"]))
            if setup["protocol"] not in model.constants["games"]:
                allowed = f"it is for {', '.join(sorted(model.constants['games']))}"
                raise InputError(f"model.{model.name}", f"is not for the protocol {setup['protocol']}", allowed)
        for key in full:
            known("key", key, COMMON_KEYS | protocol["keys"], where)
        for key in [key for key in OF_DATASET if key in setup]:
            known("attribute", setup[key], dataset.get("attributes", {}), f"{where}.{key}")
        if dataset["attributes"].get(setup.get("sensitive"), 2) < 2:
            raise InputError(f"{where}.sensitive", f"{setup['sensitive']} has one level", "expected two or more")
        if "passive" not in full:  # only a single window is attacked through subsets of the predictions
            full.pop("subsets", None)
        full.pop("defenses", None)  # a run depends on its own defense only
        own = self.sizes.get("setups", {}).get(name, {})
        above = (
            setup.get("defenses", {}) if "like" in setup else {}
        )  # one that is like another has its own at every scale
        self._changes[name] = setup.get("defenses", {}), merged(above, own.get("defenses", {}))
        for key in ("passive", "excluded"):
            for feature in full.get(key, ()):
                known("feature", feature, dataset["schema"], f"{where}.{key}")
        _check_sizes(full.get("windows", {}).get("sizes"), dataset["columns"], f"{where}.windows.sizes")
        return full

    def _check_origin(self, name: str, setup: Mapping[str, Any]) -> None:
        for by in filter(setup.__contains__, ("model_of", "like")):
            where = f"params.yaml setups.{name}.{by}"
            known("setup", setup[by], self.setups, where)
            other = self.setups[setup[by]]
            for key in SAME_MODEL:
                if _but_for_cut(setup.get(key), by) != _but_for_cut(other.get(key), by) or by in other:
                    raise InputError(where, f"{setup[by]} has another {key}", "expected the same model")

    def trained_by(self, setup: str, defense: str) -> str:
        """The setup whose undefended run trains the model that this run uses; empty when it trains its own."""
        protocol = plugins.method("protocol", self.setups[setup]["protocol"])
        own = defense == UNDEFENDED or protocol.constants["models"] == "own"
        return str(self.setups[setup].get("model_of", "" if own else setup))

    def _paper(self, name: str) -> dict[str, Any]:
        folder = self.folder / "papers"
        known("paper", name, [p.name for p in folder.iterdir() if p.is_dir()], "params.yaml papers")
        where = f"papers/{name}/paper.yaml"
        paper = families.read(folder / name, where)
        validate(paper, Paper, where)
        for identifier, exhibit in paper["exhibits"].items():
            for other in exhibit.setdefault("printed", [identifier]):
                known("exhibit", other, paper["exhibits"], f"{where} exhibits.{identifier}.printed")
            self._check_exhibit(exhibit, f"{where} exhibits.{identifier}")
        named = [(f"{where} datasets", paper["datasets"])]
        named += [
            (f"{where} claims.{key}.datasets", claim.get("datasets", [])) for key, claim in paper["claims"].items()
        ]
        for place, datasets in named:
            for dataset in datasets if datasets != ANY_DATA else []:
                known("dataset", dataset, plugins.names("dataset"), place)
        parts = ("claims", "headline")
        checked = [(f"{part}.{key}", entry) for part in parts for key, entry in paper.get(part, {}).items()]
        checked += [(f"numbers, {entry['statement']}", entry) for entry in paper.get("numbers", []) if "check" in entry]
        for key, entry in checked:
            for check in check_lines.of(entry):
                self._check_selected(check, paper["exhibits"], f"{where} {key}.check")
            if "given" in entry:
                self._check_selected(entry["given"], paper["exhibits"], f"{where} {key}.given")
        for number, entry in enumerate(paper.get("main", [])):
            for identifier in entry["claims"]:
                known("claim", identifier, paper["claims"], f"{where} main.{number}.claims")
        return paper

    def _check_selected(self, check: Mapping[str, Any], exhibits: Mapping[str, Any], where: str) -> None:
        """Raise unless everything that a check names exists and is in its exhibit."""
        known("exhibit", check["exhibit"], exhibits, where)
        limits.refuse(check, where)
        exhibit, of = exhibits[check["exhibit"]], f"of {check['exhibit']}"
        attacks = exhibit["worst"]["among"] if "worst" in exhibit else exhibit["attacks"]
        shown = {"defense": exhibit["defenses"], "attack": ["", *attacks], "metric": exhibit.get("metrics")}
        for selection in check_lines.selections(check):
            for kind, names in shown.items():
                for name in check_lines.listed(selection.get(kind, [])) if names else ():
                    known(f"{kind} {of}", name, names, where)
            for name in check_lines.listed(selection.get("defense", [])):
                for setting in filter(None, check_lines.listed(selection.get("setting", []))):
                    self._check_setting(name, setting, where)
        for setup in check.get("setups", []):
            known(f"setup {of}", setup, exhibit["setups"], where)

    def _check_setting(self, defense: str, setting: str, where: str) -> None:
        """Raise unless the defense has such a setting, at this scale or another one."""
        variant, swept = self.defenses[defense], parameters_in(setting)
        for name in swept or [setting]:
            known(f"setting of {defense}", name, variant.get("sweep" if swept else "settings", {}), where)

    def _trying(self) -> dict[str, dict[str, Any]]:
        """Checked exhibits of the methods outside the tree."""
        games = {name: setup["protocol"] for name, setup in self.setups.items()}
        tried = outside.exhibits(self.outside, self.papers, games, self.variants.missing)
        for name, exhibit in tried.items():
            self._check_exhibit(exhibit, f"{outside.PAPER} {name}")
        return tried

    def _check_exhibit(self, exhibit: dict[str, Any], where: str) -> None:
        exhibit.setdefault("defenses", [UNDEFENDED])
        exhibit.setdefault("attacks", [])
        exhibit.setdefault("sources", ["scores"])
        exhibit.setdefault("along", "d")
        exhibit["inapplicable"] = self._expand(exhibit)
        for kind, names in (("setup", self.setups), ("defense", self.defenses), ("attack", self.attacks)):
            for name in exhibit[f"{kind}s"]:
                known(kind, name, names, f"{where}.{kind}s")
        self._check_places(exhibit, where)
        self._check_worst(exhibit, f"{where}.worst")
        if "kept" in exhibit:
            known("metric", exhibit["kept"]["utility"], declared.METRICS, f"{where}.kept.utility")
            known("defense", exhibit["kept"]["floor"], exhibit["defenses"], f"{where}.kept.floor")
        if "data" in exhibit["sources"]:
            setups = {name: self.setups[name] for name in exhibit["setups"]}
            exhibit["sensitive"] = {name: setup["sensitive"] for name, setup in setups.items() if "sensitive" in setup}
        if "grids" in exhibit["sources"]:
            exhibit["grids"] = [row for pair in self.pairs(exhibit) for row in self._grid(*pair)]
        with located(where):
            plugins.check_parameters("exhibit", *plugins.used(exhibit["draw"]))
        for kind in ("defense", "attack"):
            for name in exhibit[f"{kind}s"]:
                places = {setup: self.place(exhibit, name, setup) for setup in exhibit["setups"]}
                reason = self.variants.missing(kind, name, [*places.values()])
                if reason:
                    raise InputError(
                        f"params.yaml, {where}.{kind}s",
                        reason,
                        "add it to the setup, or leave the variant out",
                    )
                exhibit["inapplicable"] += [
                    {"setup": setup, kind: name, "skipped": reason}
                    for setup, place in places.items()
                    if (reason := self.variants.unfit(kind, name, place))
                ]
        self._check_match(exhibit, where)
        if "vulnerable" in exhibit["sources"]:
            for setup in exhibit["setups"]:
                self._check_watched(exhibit, setup, f"{where}.attacks")

    def _check_watched(self, exhibit: Mapping[str, Any], setup: str, where: str) -> None:
        """Raise unless one of the attacks tracks records across epochs."""
        protocol = self.setups[setup]["protocol"]
        if all(self._target(name, protocol) != WATCHED for name in exhibit["attacks"]):
            raise InputError(where, f"has none that tracks records of {setup}", "the source `vulnerable` needs one")

    def _check_match(self, exhibit: Mapping[str, Any], where: str) -> None:
        """Raise unless each defense has a strength and the attack applies; note what each pair is matched to."""
        if ("match" in exhibit) != ("matches" in exhibit["sources"]):
            raise InputError(where, "has only one of `match` and the source `matches`", "the one needs the other")
        if "match" not in exhibit:
            return
        rule, where = exhibit["match"], f"{where}.match"
        if not self.evaluations:
            raise InputError(
                f"params.yaml scales.{self.scale}", "has no `matching`", f"{where} needs its `evaluations`"
            )
        known("attack", rule["attack"], self.attacks, f"{where}.attack")
        reasons = [self.variants.missing("attack", rule["attack"], exhibit["setups"])]
        reasons += [self.variants.unfit("attack", rule["attack"], setup) for setup in exhibit["setups"]]
        if reason := next(filter(None, reasons), ""):
            raise InputError(f"{where}.attack", reason, "its accuracy is what is matched")
        for setup, defense in self._matched(exhibit):
            with located(f"{where}, {defense}"):
                plugins.strength(self.defenses[defense]["use"])
            if self.matches.setdefault((setup, defense), rule) != rule:
                raise InputError(where, f"another exhibit matches {defense} in {setup} otherwise", "expected one rule")

    def _matched(self, exhibit: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Pairs (setup, defense) whose strength is tuned; the undefended run has none."""
        return [(setup, defense) for setup, defense in self.pairs(exhibit) if defense != UNDEFENDED]

    def _grid(self, setup: str, defense: str) -> Iterator[dict[str, Any]]:
        """Parameters of all settings of a defense in a setup, a row each."""
        for parameter, values in self.defense(setup, defense).get("sweep", {}).items():
            for value in values:
                own = {"setup": setup, "defense": defense, "setting": f"{parameter}={value}"}
                yield own | {"metric": parameter, "value": value}

    def _check_places(self, exhibit: Mapping[str, Any], where: str) -> None:
        """Raise unless attacks that are measured elsewhere are so on the same data, with the same settings."""
        for attack in exhibit.get("attacked_in", {}):
            known("attack", attack, exhibit["attacks"], f"{where}.attacked_in")
            for setup in exhibit["setups"]:
                place, place_of = self.place(exhibit, attack, setup), f"{where}.attacked_in"
                known("setup", place, self.setups, place_of)
                for key in SAME_TRUTH:
                    if self.setups[place].get(key) != self.setups[setup].get(key):
                        raise InputError(place_of, f"{place} has another {key}", f"expected that of {setup}")
                self._check_settings(exhibit["defenses"], place, setup, place_of)

    def _check_settings(self, defenses: Iterable[str], place: str, setup: str, where: str) -> None:
        """Raise unless defenses have the same settings in both setups, so that a point has leak and utility."""
        for defense in defenses:
            found, expected = ([*settings_of(self.defense(name, defense))] for name in (place, setup))
            if found != expected:
                wrong = f"{defense} has the settings {few(found)} in {place}"
                raise InputError(where, wrong, f"expected those in {setup}: {few(expected)}")

    def _check_worst(self, exhibit: dict[str, Any], where: str) -> None:
        """Replace sets within sets, and "all", by attacks; raise unless each attack is in a set, and a set is none."""
        if "worst" not in exhibit:
            return
        sets: dict[str, list[str]] = {}
        for name, own in exhibit["worst"]["among"].items():
            if name in self.attacks and own != [name]:
                raise InputError(f"{where}.among", f"{name} is an attack", "expected a name for several")
            for scored in [one for one in SCORED if one in own and own != "all" and [name] != own]:
                wrong = f"has {scored}, which is no attack"
                raise InputError(f"{where}.among.{name}", wrong, "expected a set of it alone")
            for one in own if own != "all" and own[0] not in SCORED else ():
                known("attack", one, [*exhibit["attacks"], *sets], f"{where}.among.{name}")
            named = exhibit["attacks"] if own == "all" else own
            sets[name] = list(dict.fromkeys(attack for one in named for attack in sets.get(one, [one])))
        for attack in exhibit["attacks"]:
            if not any(attack in own for own in sets.values()):
                raise InputError(f"{where}.among", f"no set has the attack {attack}", "expected each in at least one")
        for metric in exhibit["worst"]["leaks"]:
            known("metric", metric, exhibit.get("metrics", [metric]), f"{where}.leaks")
        exhibit["worst"] = exhibit["worst"] | {"among": sets}

    def _expand(self, exhibit: dict[str, Any]) -> list[dict[str, str]]:
        """Replace "all" by every variant that applies to all setups; return those that do not, with the reason."""
        left_out = []
        for kind in ("defense", "attack"):
            if exhibit[f"{kind}s"] != "all":
                continue
            exhibit["of_all"] = True
            reasons = self.variants.reasons(kind, exhibit["setups"])
            reasons = {name: reason for name, reason in reasons.items() if not self.outside.has(kind, name)}
            exhibit[f"{kind}s"] = [name for name, reason in reasons.items() if not reason]
            left_out += [
                {"setup": setup, kind: name, "skipped": reason}
                for name, reason in reasons.items()
                for setup in exhibit["setups"]
                if reason
            ]
        return left_out

    def pairs(self, exhibit: Mapping[str, Any]) -> list[tuple[str, str]]:
        """Pairs (setup, defense) of an exhibit to which the defense applies."""
        return [
            (setup, defense)
            for setup in exhibit["setups"]
            for defense in exhibit["defenses"]
            if not self.variants.unfit("defense", defense, setup)
        ]

    def place(self, exhibit: Mapping[str, Any], attack: str, setup: str) -> str:
        """Setup in which an exhibit measures an attack that it shows for `setup`."""
        return str(exhibit.get("attacked_in", {}).get(attack, "{setup}").format(setup=setup))

    def runs(self, exhibit: Mapping[str, Any]) -> set[tuple[str, str]]:
        """Pairs (setup, defense) whose runs an exhibit needs, wherever its attacks are measured."""
        attacked = {(place, defense) for place, defense, _ in self._attacked(exhibit)}
        return attacked | ({*self.pairs(exhibit)} if {*exhibit["sources"]} - {"scores"} else set())

    def exhibits(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """All (paper, id, exhibit)."""
        for paper, content in self.papers.items():
            for identifier, exhibit in content["exhibits"].items():
                yield paper, identifier, exhibit

    def all_exhibits(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """All (paper, id, exhibit), also of the methods outside the tree."""
        tried = ((outside.PAPER, name, exhibit) for name, exhibit in self.tried.items())
        return itertools.chain(self.exhibits(), tried)

    def plot_options(self, paper: str, identifier: str) -> dict[str, Any]:
        """Options of an exhibit's plot besides its cells: published numbers of its own and of the exhibits under
        `printed`, the styles of its methods, what the values of its sensitive attributes are called, and which attacks
        use knowledge of the defense.
        """
        exhibit = self.tried[identifier] if paper == outside.PAPER else self.papers[paper]["exhibits"][identifier]
        entries = [entry for entry in self.papers.get(paper, {}).get("numbers", []) if "check" in entry]
        sensitive = {name: self.setups[name].get("sensitive", "") for name in exhibit["setups"]}
        named = {
            name: plugins.method("dataset", self.setups[name]["dataset"]).constants["values"] for name in sensitive
        }
        return {
            "numbers": [e for e in entries if {one["exhibit"] for one in check_lines.of(e)} & {*exhibit["printed"]}],
            "styles": {k: {name: self.styles[k][name] for name in exhibit[f"{k}s"]} for k in ("defense", "attack")},
            "values": {name: list(named[name].get(attribute, ())) for name, attribute in sensitive.items()},
            "scales": self.scales,
            "knowing": [name for name in exhibit["attacks"] if self._knows(name)],
        }

    def _knows(self, attack: str) -> bool:
        return bool(plugins.method("attack", self.attacks[attack]["use"]).constants["knows"])

    @functools.cached_property
    def styles(self) -> dict[str, dict[str, Any]]:
        """Plot style of every defense and every attack of params.yaml, by kind and name."""
        return {"defense": styles("defense", self.defenses), "attack": styles("attack", self.attacks)}

    @property
    def files_of_variants(self) -> dict[str, dict[str, str]]:
        """Kind -> name -> what it is of: the method of a defense or attack, the protocol of a setup."""
        uses = {"defense": self.defenses, "attack": self.attacks}
        files = {kind: {name: entry["use"] for name, entry in own.items()} for kind, own in uses.items()}
        return files | {"setup": {name: entry["protocol"] for name, entry in self.setups.items()}}

    @property
    def setups_used(self) -> list[str]:
        """Setups that the papers' exhibits need."""
        return sorted({setup for _, _, exhibit in self.exhibits() for setup in exhibit["setups"]})

    def datasets(self) -> list[str]:
        """Datasets that the papers' exhibits need."""
        return sorted({self.setups[setup]["dataset"] for setup in self.setups_used})

    def defenses_to_time(self, setup: str) -> dict[str, dict[str, Any]]:
        """Defense variants of a setup whose training steps some exhibit times."""
        shown = [e for _, _, e in self.exhibits() if "times" in e["sources"] and setup in e["setups"]]
        return {d: self.defense(setup, d) for e in shown for s, d in self.pairs(e) if s == setup}

    @functools.cached_property
    def with_prior(self) -> set[str]:
        """Setups of which some exhibit shows the leak beyond what features predict."""
        shown = [e for _, _, e in self.all_exhibits() if ADJUSTED & {*e.get("metrics", ())}]
        return {setup for exhibit in shown for setup in exhibit["setups"]}

    def on_watched(self, setup: str, defense: str) -> dict[str, dict[str, Any]]:
        """Attacks on tracked records whose results on the most vulnerable ones some exhibit shows."""
        shown = [e for _, _, e in self.exhibits() if "vulnerable" in e["sources"]]
        cases = [case for exhibit in shown for case in self._attacked(exhibit) if case[:2] == (setup, defense)]
        protocol = self.setups[setup]["protocol"]
        names = {attack for *_, attack in cases if self._target(attack, protocol) == WATCHED}
        return {name: self.attacks[name] for name in sorted(names)}

    def _target(self, attack: str, protocol: str) -> str:
        return str(self.variants.method("attack", attack, protocol).constants["target"])

    def files(self, paper: str, exhibit: Mapping[str, Any], source: str) -> list[str]:
        """Files under results/ that an exhibit reads from a source."""
        patterns = {
            "scores": "results/scores/{setup}/{defense}/{attack}.csv",
            "utility": "results/runs/{setup}/{defense}/utility.csv",
            "theory": "results/theory/{paper}/{setup}/{defense}.csv",
            "times": "results/runs/{setup}/times.csv",
            "matches": "results/matches/{setup}/{defense}.csv",
            "vulnerable": "results/vulnerable/{setup}/{defense}.csv",
        }
        if source not in exhibit["sources"] or source not in patterns:
            return []
        if source == "scores":
            of = [dict(zip(("setup", "defense", "attack"), case, strict=True)) for case in self._attacked(exhibit)]
        else:
            pairs = self._matched(exhibit) if source == "matches" else self.pairs(exhibit)
            of = [{"paper": paper, "setup": setup, "defense": defense} for setup, defense in pairs]
        return list(dict.fromkeys(patterns[source].format_map(names) for names in of))

    def _attacked(self, exhibit: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
        """Triples (setup, defense, attack) that an exhibit needs, wherever its attacks are measured."""
        for setup, defense in self.pairs(exhibit):
            for attack in exhibit["attacks"]:
                place = self.place(exhibit, attack, setup)
                if not self.variants.unfit("attack", attack, place):
                    yield place, defense, attack

    def _shares(self, attack: str, setup: str) -> bool:
        """True if an attack shares a job with others; one outside the tree would make those run again."""
        method = self.variants.method("attack", attack, self.setups[setup]["protocol"])
        small = self.cluster.small_jobs or method.constants["cheap"]
        return bool(small) and not self.outside.has("attack", attack)

    def shared_jobs(self) -> dict[tuple[tuple[str, ...], Grain], list[tuple[str, str]]]:
        """(Attacks that share a job, the job granularity) -> the runs (setup, defense) on which they do.

        They are the cheap ones among those that exhibits show, and all of them at a scale of small jobs.
        """
        together: dict[tuple[str, str], set[str]] = {}
        for _, _, exhibit in self.all_exhibits():
            for setup, defense, attack in self._attacked(exhibit) if "scores" in exhibit["sources"] else ():
                if self._shares(attack, setup):
                    together.setdefault((setup, defense), set()).add(attack)
        runs: dict[tuple[tuple[str, ...], Grain], list[tuple[str, str]]] = {}
        for (setup, defense), attacks in sorted(together.items()):
            runs.setdefault((tuple(sorted(attacks)), self._grain[setup]), []).append((setup, defense))
        return runs


def _but_for_cut(value: Any, by: str) -> Any:
    """A key's value of a setup; of a model without its cut, which may differ from that of the setup it is `like`."""
    cut = by == "like" and isinstance(value, Mapping)
    return {key: own for key, own in value.items() if key != "cut"} if cut else value


def _check_sizes(sizes: Any, columns: int, where: str) -> None:
    for d in sizes if isinstance(sizes, list) else []:
        if not 1 <= d <= columns:
            raise InputError(where, f"d = {d} is out of range", f"1 to {columns}")
