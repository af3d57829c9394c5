"""Released transcripts: an attack infers from them what it infers on a fresh run, and numpy alone reads them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest
from tests.params import params

import load
import release
from cutlayer.core import artifacts, transcript
from cutlayer.core.errors import InputError
from cutlayer.data import normalised
from cutlayer.ledger import cells
from cutlayer.plan import plugins
from cutlayer.plan.plan import Plan
from cutlayer.stages import released, runs, scores
from launch import trying

ROOT = Path(__file__).parents[2]
SETUP, DEFENSES, ATTACKS, MINE = "digits_vs_rest", ["none", "max_norm"], ["norm", "direction"], "largest_entry"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plan]:
    """The plan of `make try`, with an arena of two defenses and two attacks on one setup."""
    mine = tmp_path_factory.mktemp("mine") / f"{MINE}.py"
    mine.write_text((ROOT / "docs/templates/attack.py").read_text())
    trying = {"methods": str(mine), "trying": {"setups": [SETUP]}}
    made = Plan(params() | trying | {"scale": released.SCALE, "papers": ["arena"]})
    sets = {"any_attack": ATTACKS}
    few = {"setups": [SETUP], "defenses": DEFENSES, "inapplicable": []}
    own = made.tried[MINE]
    own |= few | {"attacks": [*ATTACKS, MINE], "worst": own["worst"] | {"among": sets | {MINE: [MINE]}}}
    shown = made.papers["arena"]["exhibits"]["labels"]
    shown |= few | {"attacks": ATTACKS, "worst": shown["worst"] | {"among": sets}}
    made.papers["arena"]["exhibits"] = {"labels": shown}
    yield made
    plugins.look_in("")


def run(plan: Plan, folder: Path) -> None:
    """What the workflow leaves of that arena."""
    settings = plan.setups[SETUP]
    normalised.normalise(settings["dataset"], folder, None, False, ROOT / "data/sources.csv", folder / released.DATA)
    for defense in DEFENSES:
        utility = folder / f"results/runs/{SETUP}/{defense}/utility.csv"
        own = plan.defense(SETUP, defense)
        runs.execute(SETUP, defense, settings, own, folder / released.DATA, [], utility, plan.seeds)
        score(plan, folder, defense, ATTACKS)
    cells.write(pd.DataFrame({"scale": [plan.scale]}), folder / release.CELLS)
    (folder / release.LOADER).parent.mkdir()
    (folder / release.LOADER).write_text((ROOT / release.LOADER).read_text())


def score(plan: Plan, folder: Path, defense: str, attacks: list[str]) -> list[Path]:
    run, methods = folder / f"results/runs/{SETUP}/{defense}", {name: plan.attacks[name] for name in attacks}
    seen, true = ([run / f"seed{s}.{part}.safetensors" for s in plan.seeds] for part in ("transcript", "truth"))
    tables = [folder / f"results/scores/{SETUP}/{defense}/{name}.csv" for name in attacks]
    scores.score(SETUP, defense, plan.setups[SETUP]["protocol"], methods, seen, true, plan.seeds, tables)
    return tables


@pytest.fixture(scope="module")
def archives(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("root")
    run(plan, root)
    return release.transcripts(root, plan, root, "1.2.3")


@pytest.fixture
def unpacked(archives: list[Path], tmp_path: Path) -> Path:
    for archive in archives:
        with ZipFile(archive) as packed:
            packed.extractall(tmp_path / "unpacked")
    return tmp_path / "unpacked"


def test_an_attack_infers_as_much_as_on_a_fresh_run(plan: Plan, unpacked: Path, tmp_path: Path) -> None:
    (sentence,) = released.judge(plan, unpacked, tmp_path)
    assert f"{MINE}: " in sentence.read_text()
    assert (tmp_path / f"{MINE}.png").is_file()
    judged = cells.load(tmp_path / f"{MINE}.cells.csv")

    fresh = tmp_path / "fresh"
    run(plan, fresh)
    own = {defense: score(plan, fresh, defense, [MINE]) for defense in DEFENSES}
    exhibit = plan.tried[MINE]
    tables = [fresh / file for source in released.TABLES for file in plan.files("tried", exhibit, source)]
    assert {path for paths in own.values() for path in paths} < {*tables}
    found = cells.gather(tables, fresh / released.DATA, {SETUP: plan.setups[SETUP]["dataset"]}, exhibit)
    cells.write(found.assign(scale=plan.scale), tmp_path / "fresh.csv")
    expected = cells.load(tmp_path / "fresh.csv")
    leak = judged[(judged["attack"] == MINE) & judged["value"].notna()]
    assert {*leak["defense"]} == {*DEFENSES}
    assert leak["seed"].nunique() == len(plan.seeds)
    pd.testing.assert_frame_equal(judged, expected)


def test_what_an_adversary_saw_holds_no_truth(archives: list[Path]) -> None:
    seen, truth = ({*ZipFile(archive).namelist()} for archive in archives)
    assert not seen & truth
    assert {Path(name).name.split(".", 1)[1] for name in seen} == {"py", "transcript.safetensors"}


def test_numpy_alone_reads_what_the_library_reads(unpacked: Path) -> None:
    folder = unpacked / f"results/runs/{SETUP}/max_norm"
    own, expected = (
        load.settings(folder / "seed0.transcript.safetensors"),
        transcript.load(folder / "seed0.transcript.safetensors"),
    )
    assert own.keys() == expected.keys()
    pairs = [(own[setting], expected[setting]) for setting in own]
    pairs.append(
        (load.arrays(folder / "seed0.truth.safetensors"), artifacts.read_arrays(folder / "seed0.truth.safetensors")[0])
    )
    for found, wanted in pairs:
        assert found.keys() == wanted.keys()
        for name, array in wanted.items():
            np.testing.assert_array_equal(found[name], array, strict=True)
    third = "import sys; before = {*sys.modules}; import load; print({name.split('.')[0] for name in sys.modules})"
    said = subprocess.check_output([sys.executable, "-c", third], cwd=unpacked, text=True, env={"PYTHONPATH": ""})
    assert "'numpy'" in said
    assert not {"cutlayer", "safetensors", "torch", "pandas"} & {name.strip("{}' \n") for name in said.split(",")}


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-1], lambda content: content[:-1] + bytes([content[-1] ^ 1])]
)
def test_a_damaged_file_is_refused(unpacked: Path, damage) -> None:
    file = unpacked / f"results/runs/{SETUP}/none/seed0.transcript.safetensors"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match=r"seed0\.transcript\.safetensors (cannot be read|is not as it was written)"):
        load.settings(file)


def test_what_is_lacking_is_said(plan: Plan, unpacked: Path, tmp_path: Path) -> None:
    (unpacked / f"results/runs/{SETUP}/none/seed0.truth.safetensors").unlink()
    with pytest.raises(InputError, match=r"has no results/runs/\w+/none/seed0\.truth\.safetensors; expected what"):
        released.judge(plan, unpacked, tmp_path)
    with pytest.raises(InputError, match=r"release\.transcripts: there is no .*; `make results` writes them"):
        release.transcripts(unpacked, plan, tmp_path, "1.2.3")


def test_make_try_says_what_is_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trying.environment, "prepare", lambda mirror: mirror)  # that of all other tests stays
    monkeypatch.chdir(ROOT)
    config = trying.configured({"attack": str(ROOT / "docs/templates/attack.py"), "transcripts": str(tmp_path)})
    assert trying.judge(config, tmp_path) == 1
    assert capsys.readouterr().err.startswith(f"error: make try: {tmp_path} has no results/")
    plugins.look_in("")
