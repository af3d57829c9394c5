"""Methods outside the tree: what is found, what is refused, what it leaves as it is, and the sentence on each."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.params import params

from cutlayer.core.errors import InputError
from cutlayer.data.sources import own_files
from cutlayer.ledger import tried
from cutlayer.ledger.cells import WHO
from cutlayer.plan import code, plugins
from cutlayer.plan.plan import Plan
from launch import trying

ROOT = Path(__file__).parents[2]
TEMPLATES = {kind: (ROOT / f"docs/templates/{kind}.py").read_text() for kind in ("defense", "attack", "dataset")}
NAMES = {"defense": "even_noise", "attack": "largest_entry", "dataset": "cells"}


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    yield
    plugins.look_in("")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one of each."""
    for kind, text in TEMPLATES.items():
        (tmp_path / f"{NAMES[kind]}.py").write_text(text)
    return tmp_path


def plan(folder: Path | None = None, **trying: object) -> Plan:
    config = params()
    own = {"methods": str(folder)} | ({"trying": trying} if trying else {}) if folder else {}
    return Plan(config | own)


def jobs(of: Plan) -> dict[tuple[str, str], tuple[str, ...]]:
    """(setup, defense) -> the attacks that are one job."""
    return {run: attacks for (attacks, _), runs in of.shared_jobs().items() for run in runs}


@pytest.mark.parametrize("name", ["methods.yml", "Methods.yml"])
def test_variants_in_a_file_of_nearly_that_name_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_text("defenses: { little_noise: { use: even_noise, strength: 0.01 } }")
    with pytest.raises(InputError, match=f"{name}: is not read; expected methods.yaml"):
        plan(folder)


def test_variants_are_read_after_a_byte_order_mark(folder: Path) -> None:
    text = "defenses: { little_noise: { use: even_noise, strength: 0.01 } }"
    (folder / "methods.yaml").write_text(text, encoding="utf-8-sig")
    assert plan(folder).outside.has("defense", "little_noise")


def test_a_place_of_methods_may_be_in_the_user_s_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    assert plan(Path("~", folder.name)).tried.keys() == plan(folder).tried.keys()


def test_each_template_is_found_and_gets_an_exhibit(folder: Path) -> None:
    own = plan(folder)
    assert {kind: [*found] for kind, found in own.outside.methods.items()} == {k: [n] for k, n in NAMES.items()}
    assert own.tried.keys() == set(NAMES.values())
    assert "even_noise" in own.tried["even_noise"]["defenses"]
    assert own.tried["largest_entry"]["worst"]["among"]["largest_entry"] == ["largest_entry"]
    assert "largest_entry" not in own.tried["largest_entry"]["worst"]["among"]["any_attack"]
    assert own.tried["cells"]["setups"] == ["cells"]
    assert own.setups["cells"] == own.setups["digits_vs_rest"] | {"dataset": "cells"}


def test_nothing_of_the_tree_changes(folder: Path) -> None:
    without, own = plan(), plan(folder)
    assert own.papers == without.papers
    assert own.judged_at == without.judged_at
    assert own.datasets() == without.datasets()
    before, after = jobs(without), jobs(own)
    assert {run: after[run] for run in before} == before
    for paper, name, _ in without.exhibits():
        assert own.plot_options(paper, name) == without.plot_options(paper, name)


def test_the_plan_after_one_with_methods_has_none(folder: Path) -> None:
    plan(folder)
    assert plan().tried == {}
    assert "even_noise" not in plugins.names("defense")


def test_a_folder_may_say_its_variants_and_have_folders(folder: Path) -> None:
    (folder / "defenses").mkdir()
    (folder / "even_noise.py").rename(folder / "defenses/even_noise.py")
    (folder / "methods.yaml").write_text("defenses: { little: { use: even_noise, strength: 0.1 } }")
    own = plan(folder)
    assert "little" in own.tried["even_noise"]["defenses"]
    assert "even_noise" not in own.defenses


def test_a_file_alone_with_a_sweep_in_the_setups_that_are_named(folder: Path) -> None:
    own = plan(folder / "even_noise.py", setups=["criteo"], sweep={"strength": [0.1, 1.0]})
    assert own.tried["even_noise"]["setups"] == ["criteo"]
    assert own.defenses["even_noise"] == {"use": "even_noise", "sweep": {"strength": [0.1, 1.0]}}
    assert [*own.tried] == ["even_noise"]


def test_a_job_depends_on_the_file_and_on_all_that_it_imports(folder: Path) -> None:
    plan(folder)
    files = code.closure(plugins.method("defense", "even_noise").path)
    assert str(folder / "even_noise.py") in files
    assert str(plugins.ROOT / "games/split/defense.py") in files


def test_what_programs_hide_in_a_folder_is_passed_over(folder: Path) -> None:
    for name in (".ipynb_checkpoints/even_noise-checkpoint.py", "._even_noise.py", ".#even_noise.py", "_helper.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"\x00\x05\x16\x07")
    assert plan(folder).tried.keys() == set(NAMES.values())
    (folder / "cells").mkdir()
    for name in ("cells.csv", ".DS_Store", "._cells.csv"):
        (folder / "cells" / name).touch()
    assert [file.name for file in own_files(folder, "cells")] == ["cells.csv"]


@pytest.mark.parametrize(
    "saved",
    [
        b"\xef\xbb\xbf" + TEMPLATES["defense"].encode(),
        b"# coding: latin-1\n# caf\xe9\n" + TEMPLATES["defense"].encode(),
        TEMPLATES["defense"].replace("\n", "\r\n").encode(),
    ],
)
def test_a_method_is_read_as_python_reads_it(tmp_path: Path, saved: bytes) -> None:
    (tmp_path / "even_noise.py").write_bytes(saved)
    assert plan(tmp_path).tried.keys() == {"even_noise"}
    assert plugins.create("defense", "even_noise").strength == 1.0


DEFENSE, DATASET = TEMPLATES["defense"], TEMPLATES["dataset"]
REFUSED = {
    "one class": (
        {"mine": DATASET.replace("classes = 2", "classes = 1")},
        "dataset.mine: has classes = 1; expected a literal of 2 or more \\({mine}, line 22\\)",
    ),
    "classes that are computed": (
        {"mine": DATASET.replace("classes = 2", "classes = len(NAMES)")},
        "dataset.mine: has no number of classes; expected a literal of 2 or more \\({mine}, line 22\\)",
    ),
    "a misspelt hook": (
        {"mine": DEFENSE.replace("def backward", "def backwards")},
        "defense.mine: 'backwards' overrides no hook of its game; did you mean 'backward'\\? .* \\({mine}, line 25\\)",
    ),
    "a name of the tree": ({"marvell": DEFENSE}, "defense.marvell: there is one of that name, beside {marvell}"),
    "a variant's name": ({"secdt_k": DEFENSE}, "methods defenses.secdt_k: params.yaml has one of that name"),
    "a relative import": (
        {"mine": DEFENSE.replace("cutlayer.games.split.defense", ".helpers")},
        "methods.mine: imports .helpers, relative to its own folder; .* \\({mine}, line 14\\)",
    ),
    "what is not installed": (
        {"mine": DEFENSE.replace("import torch", "import torch, torchless")},
        "methods.mine: imports torchless, which is not installed; a method is one file \\({mine}, line 11\\)",
    ),
    "no such module of the library": (
        {"mine": DEFENSE.replace("cutlayer.core.limits", "cutlayer.core.limit")},
        "methods.mine: there is no cutlayer.core.limit; .* \\({mine}, line 13\\)",
    ),
    "no Python": ({"mine": "class Mine(:"}, "methods.mine: is no Python: .*line 1"),
    "no method": ({"mine": "x = 1"}, "methods.mine: has no class that extends Defense, Attack or Dataset"),
    "no name": ({"Mine-1": DEFENSE}, "methods.Mine-1: is no name; expected small letters"),
    "no file": ({}, "methods: .* holds none"),
    "a parameter of another type": (
        {"mine": DEFENSE.replace("strength: float = 1.0", "strength: list = 1.0")},
        "defense.mine: parameter 'strength' is a list; .* \\({mine}, line 23\\)",
    ),
    "a parameter that hides a constant": (
        {"mine": DEFENSE.replace("strength: float = 1.0", "needs: float = 1.0")},
        "defense.mine: the parameter 'needs' hides what its contract says of it; .* \\({mine}, line 23\\)",
    ),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_a_mistake_is_refused_with_file_and_line(tmp_path: Path, mistake: str) -> None:
    files, sentence = REFUSED[mistake]
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    places = {name: re.escape(str(tmp_path / f"{name}.py")) for name in files}
    for name, place in places.items():
        sentence = sentence.replace(f"{{{name}}}", place)
    with pytest.raises(InputError, match=f"^{sentence}"):
        plan(tmp_path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "defenses: { little: { use: marvell } }",
            "methods defenses.little.use: there is no defense outside the tree 'mar",
        ),
        ("defenses: { secdt: { use: even_noise } }", "methods defenses.secdt: params.yaml has one of that name"),
        ("defences: {}", ".*methods.yaml: there is no key 'defences'; did you mean 'defenses'?"),
        ("defenses: [", ".*methods.yaml: is no YAML; "),
    ],
)
def test_what_a_methods_yaml_cannot_mean_is_refused(folder: Path, text: str, sentence: str) -> None:
    (folder / "methods.yaml").write_text(text)
    with pytest.raises(InputError, match=f"^{sentence}"):
        plan(folder)


def test_the_truth_of_a_setup_has_two_values_or_more(folder: Path) -> None:
    file = folder / "cells.py"
    file.write_text(DATASET.replace("    rows = 569", '    attributes = {"sex": 1}\n    rows = 569'))
    setup = "{ protocol: vertical, dataset: cells, sensitive: sex, model: { use: logistic_regression } }"
    (folder / "methods.yaml").write_text(f"setups: {{ own: {setup} }}")
    with pytest.raises(InputError, match=r"setups.own.sensitive: sex has one level; expected two or more"):
        plan(folder)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([], "has no file in {home}"),
        (["cats/1.png", "dogs/2.png", ".cache/3"], "has only folders in {home}: cats, dogs"),
        ([f"{name}/1.png" for name in range(2000)], "has only folders in {home}: 0, 1, .* and 1,990 more"),
    ],
)
def test_a_dataset_without_files_says_what_is_there_and_what_should(
    tmp_path: Path, names: list[str], sentence: str
) -> None:
    for name in names:
        (tmp_path / "pics" / name).parent.mkdir(parents=True)
        (tmp_path / "pics" / name).touch()
    wrong = sentence.format(home=re.escape(str(tmp_path / "pics")))
    expected = r"expected files there, of folders one archive \(pics.zip\)"
    with pytest.raises(InputError, match=f"^dataset.pics: {wrong}; {expected}$") as told:
        own_files(tmp_path, "pics")
    assert len(str(told.value)) < 400


def test_two_methods_of_one_name_are_refused(folder: Path) -> None:
    (folder / "attacks").mkdir()
    (folder / "attacks/even_noise.py").write_text(TEMPLATES["attack"])
    with pytest.raises(InputError, match=r"^(attack|defense)\.even_noise: there is one of that name, beside "):
        plan(folder)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"setups": ["nowhere"]}, "trying.setups: there is no setup 'nowhere'"),
        ({"setups": ["bank_half"]}, "params.yaml, tried even_noise.defenses: .* is not for the protocol vertical"),
        ({"sweep": {"strenght": [1.0]}}, "methods defenses.even_noise: .* has no parameter 'strenght'; did you mean"),
        ({"sweep": {"strength": [-1.0]}}, "methods defenses.even_noise: .* strength = -1.0; at least 0"),
    ],
)
def test_what_cannot_be_tried_is_refused(folder: Path, said: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{sentence}"):
        plan(folder / "even_noise.py", **said)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "make try: has 0 files; expected one of DEFENSE="),
        ({"defense": "a.py", "attack": "b.py"}, "make try: has 2 files"),
        ({"defense": "nowhere.py"}, "make try: there is no file nowhere.py"),
        ({"defense": __file__, "settings": "strength"}, "make try: SETTINGS='strength' is no mapping"),
        ({"defense": __file__, "transcripts": "."}, "make try: TRANSCRIPTS= is for an attack; expected ATTACK="),
    ],
)
def test_make_try_says_what_it_needs(given: dict, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{sentence}"):
        trying.configured(given)


def test_make_try_hands_over_what_it_was_given() -> None:
    configured = trying.configured(
        {"defense": __file__, "setups": "criteo, avazu", "settings": "{a: [0.1, 1], b: 2}", "like": ""}
    )
    sweep = {"a": [0.1, 1], "b": [2]}
    assert configured == {"methods": __file__, "trying": {"setups": ["criteo", "avazu"], "sweep": sweep}}


def recipe(target: str, **variables: str) -> list[str]:
    """The words of what make would call."""
    given = [f"{name}={value}" for name, value in variables.items()]
    command = ["make", "--dry-run", "--no-print-directory", "--old-file=setup", target, *given]
    own = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True, check=True)
    return shlex.split(done.stdout.splitlines()[0])


def test_whatever_characters_a_value_has_make_hands_it_on() -> None:
    given = {"DEFENSE": "/home/O'Brien/$x #1.py", "SETUPS": 'a, "b"', "SETTINGS": "{a: ['x', `y`]}", "LIKE": "(z;"}
    words = recipe("try", **given)
    found = dict(word.split("=", 1) for word in words[3 : words.index("--")])
    assert found == given | {"ATTACK": "", "DATASET": "", "TRANSCRIPTS": ""}
    assert recipe("results", SCALE="it's", PAPERS="a, b'")[-3:] == ["--config", "scale=it's", "papers=[a, b']"]


# The sentences, of made-up cells: value by seed.

NOISE = np.array([-0.001, 0.0, 0.001])
DRAW: dict[str, str] = {}


def cells(points: dict[tuple[str, str], tuple[float, float]], provenance: str = "real", **alone: float) -> pd.DataFrame:
    """Cells of one setup: (defense, setting) -> mean leak to all others and mean utility; `alone`: an attack's leak."""
    rows = []
    for (defense, setting), (leak, utility) in points.items():
        values = {("any_attack", "attack_utility"): leak, ("", "test_utility"): utility}
        values |= {(attack, "attack_utility"): leak + more for attack, more in alone.items()}
        for (attack, metric), mean in values.items():
            for seed, off in enumerate(NOISE * (1 + (attack in alone))):
                who = ("home", "data", provenance, 3, defense, setting, attack, metric)
                facts = {"all": 0, "seed": seed, "value": mean + off, "tested": 500, "chance": 0.5, "error": 0.001}
                rows.append(dict(zip(WHO, who, strict=True)) | facts | {"skipped": "", "by": "hint" if attack else ""})
    return pd.DataFrame(rows)


OTHERS = {("none", ""): (0.95, 0.8), ("good", "a=1"): (0.6, 0.7), ("better", "a=1"): (0.7, 0.75)}


@pytest.mark.parametrize(
    ("mine", "sentence"),
    [
        ({"a=1": (0.65, 0.69)}, "dominated by good on home"),
        ({"a=1": (0.65, 0.69), "a=2": (0.72, 0.74)}, "dominated by good and better on home"),
        ({"a=1": (0.75, 0.69), "a=2": (0.72, 0.6)}, "dominated by good on home"),
        ({"a=1": (0.65, 0.73)}, "on the Pareto front on home"),
        ({"a=1": (0.65, 0.69), "a=2": (0.55, 0.6)}, "on the Pareto front on home"),
        ({"a=1": (0.6, 0.69)}, "undecided on home"),
    ],
)
def test_where_a_defense_is(mine: dict, sentence: str) -> None:
    own = {("mine", setting): point for setting, point in mine.items()}
    assert tried.of_defense(cells(OTHERS | own), ["mine"], "any_attack", DRAW, ["home"]) == sentence


def test_axes_that_point_the_other_way_give_the_same_sentence() -> None:
    table = cells(OTHERS | {("mine", ""): (0.65, 0.69)}).assign(
        value=lambda own: -own["value"], chance=np.nan, tested=0
    )
    turned = {"safer": "up", "better": "down"}
    assert tried.of_defense(table, ["mine"], "any_attack", turned, ["home"]) == "dominated by good on home"


def test_generated_data_and_no_signal_are_said() -> None:
    own = OTHERS | {("mine", ""): (0.65, 0.73)}
    told = tried.of_defense(cells(own, "stand-in"), ["mine"], "any_attack", DRAW, ["home"])
    assert told == "on the Pareto front on home (home: generated stand-in data)"
    useless = cells({who: (leak, 0.5) for who, (leak, _) in own.items()})
    told = tried.of_defense(useless, ["mine"], "any_attack", DRAW, ["home"])
    assert told.startswith("no signal (the model is not surely better than chance")


def test_an_attack_that_is_at_chance_in_the_metric_drawn_has_no_signal() -> None:
    table = cells(OTHERS | {("mine", ""): (0.65, 0.73)})
    leaks = table["metric"] == "attack_utility"
    table = pd.concat([table.assign(value=table["value"].mask(leaks, 0.5)), table[leaks].assign(metric="leak_auc")])
    better = "is not surely better than chance here"
    reason = f"no signal (the attack any_attack {better}: attack_utility 0.500, chance 0.500)"
    assert tried.of_defense(table, ["mine"], "any_attack", DRAW, ["home"]) == f"{reason} on home"
    assert tried.of_dataset(table, ["home"], "any_attack", DRAW, ["home"]) == f"{reason} on home"


def test_a_defense_that_failed_has_its_reason() -> None:
    table = cells(OTHERS | {("mine", ""): (0.65, 0.73)})
    failed = table.assign(
        value=table["value"].mask(table["defense"] == "mine"),
        skipped=table["skipped"].mask(table["defense"] == "mine", "failed: ValueError"),
    )
    told = tried.of_defense(failed, ["mine"], "any_attack", DRAW, ["home"])
    assert told == "no result (failed: ValueError) on home"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (0.05, "stronger than hint on none on home, than hint on good a=1 on home, than hint on better a=1 on home; "
               "surely weaker on 0 of 3 schemes, undecided on 0"),
        (-0.05, "nowhere surely stronger; surely weaker on 3 of 3 schemes, undecided on 0"),
        (0.0, "nowhere surely stronger; surely weaker on 0 of 3 schemes, undecided on 3"),
    ],
)  # fmt: skip
def test_where_an_attack_is_stronger(more: float, sentence: str) -> None:
    assert tried.of_attack(cells(OTHERS, mine=more), ["mine"], "any_attack", DRAW, ["home"]) == sentence


def test_which_defenses_are_on_the_front_of_a_dataset() -> None:
    told = tried.of_dataset(cells(OTHERS), ["home"], "any_attack", DRAW, ["home"])
    assert told == "none, good, better on the Pareto front on home"


def test_two_methods_of_one_name_are_refused_whatever_their_games(tmp_path: Path) -> None:
    for game in ("split", "vertical"):
        (tmp_path / game).mkdir()
        text = DEFENSE.replace("cutlayer.games.split", f"cutlayer.games.{game}").replace(
            "def backward", "def _backward"
        )
        (tmp_path / game / "mine.py").write_text(text)
    with pytest.raises(InputError, match=r"^defense\.mine: there is one of that name, beside .*; give yours another$"):
        plan(tmp_path)


@pytest.mark.parametrize("kind", ["defense", "attack", "model"])
def test_two_files_of_one_name_in_the_tree_are_refused_too(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for game in ("split", "vertical"):
        for name in ("mine", "none"):
            file = tmp_path / f"games/{game}/{kind}s/{name}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("")
    monkeypatch.setattr(plugins, "ROOT", tmp_path)
    plugins._files.cache_clear()
    sentence = rf"^{kind}\.mine: there is one in games/split/{kind}s and games/vertical/{kind}s; expected a name"
    with pytest.raises(InputError, match=sentence):
        plugins.names(kind)
