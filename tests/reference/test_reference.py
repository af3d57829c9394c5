"""The reference: what is finished comes beside what is there, cell by cell; comparing finds what differs."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.params import params

from cutlayer.core.artifacts import read_json, write_json
from cutlayer.core.errors import InputError
from cutlayer.ledger import cells, selection
from cutlayer.ledger.claims import COLUMNS
from cutlayer.plan.plan import Plan
from cutlayer.reference import merge, published, redrawn
from cutlayer.reference.compare import compare
from cutlayer.reference.publish import commit_of, hours, publish

ROOT = Path(__file__).parents[2]
CONFIG = params()
FIRST, SECOND = "marvell", "chebyshev"  # the second comes before the first in params.yaml
SCALE = "reference"
PLAN = Plan(CONFIG | {"scale": SCALE})
PUBLISHED = published.available(ROOT / "reference", PLAN.papers)
CHOOSING = [
    (paper, name) for paper, one in PUBLISHED.items() for name, own in one["exhibits"].items() if "choose" in own
]
KEYS = ["scale", "setup", "defense"]


def row(paper: str, item: str, ours: float, low: float, high: float, **more: object) -> dict:
    """A row of claims.csv."""
    made = dict.fromkeys(COLUMNS, "") | {"paper": paper, "kind": "claim", "item": item, "statement": f"{item} holds."}
    made |= {"setup": "wine", "dataset": "wine", "provenance": "real", "scale": SCALE, "size": "full", "seeds": 5}
    return made | {"ours": ours, "low": low, "high": high, "verdict": "holds"} | more


def run(
    root: Path, *papers: str, scale: str = SCALE, value: float = 0.5, provenance: str = "real", **only: list
) -> Plan:
    """Write a finished run into a folder: of each exhibit a number a setup and defense, and the facts of the data."""
    plan = Plan(CONFIG | {"papers": [*papers], "scale": scale} | ({"only": only} if only else {}))
    shutil.copy(ROOT / "params.yaml", root)
    for paper, name, exhibit in plan.exhibits():
        file = root / f"results/cells/{paper}/{name}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = [cell(plan, *pair, exhibit["along"], scale, value, provenance) for pair in plan.pairs(exhibit)]
        cells.write(pd.DataFrame(rows), file)
    for dataset in plan.datasets():
        facts = {"name": dataset, "provenance": provenance, "files": {"a.csv": "0" * 64}}
        write_json(root / f"data/normalised/{dataset}.json", facts)
    (root / "results/claims.csv").write_text(f"{papers}{value}")
    return plan


def cell(plan: Plan, setup: str, defense: str, along: str, scale: str, value: float, provenance: str) -> dict:
    who = {"setup": setup, "dataset": plan.setups[setup]["dataset"], "provenance": provenance, "features": 3}
    who |= {"defense": defense, "setting": "", "attack": "", "metric": "accuracy", along: 0}
    return who | {"seed": 0, "value": value, "n": 5, "cases": 1, "skipped": "", "scale": scale}


def drawn(plan: Plan, folder: Path, names: Iterable[tuple[str, str]]) -> None:
    """Files in place of drawings, which take long and are tested elsewhere."""
    for paper, name in names:
        for file in published.files_of(paper, name, plan.papers[paper]["exhibits"][name]):
            if file.startswith("exhibits/"):
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_text("drawn")


@pytest.fixture(autouse=True, scope="module")
def _not_drawn() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(redrawn, "draw", drawn)
        yield


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the first paper's run is published."""
    root = tmp_path_factory.mktemp("published")
    run(root, FIRST)
    publish(root, "a" * 40, SCALE)
    return root


@pytest.fixture
def root(once: Path, tmp_path: Path) -> Path:
    shutil.copytree(once, tmp_path / "root")
    shutil.rmtree(tmp_path / "root/results")
    return tmp_path / "root"


def publish_of(root: Path, *papers: str, scale: str = SCALE, **more: Any) -> str:
    run(root, *papers, scale=scale, **more)
    return publish(root, "b" * 40, scale)


def stored(root: Path, exhibit: str, paper: str = FIRST) -> pd.DataFrame:
    return cells.load(published.cells(root / "reference", paper, exhibit))


def test_another_paper_is_published_beside_the_first_one_in_the_order_of_the_params(root: Path) -> None:
    before = stored(root, "figure3a")
    said = publish_of(root, SECOND)
    assert f"of {SECOND} at scale {SCALE} are new or changed" in said
    runs = published.runs(root / "reference")
    assert {paper: [made["commit"][0] for made in own] for paper, own in runs.items()} == {FIRST: ["a"], SECOND: ["b"]}
    assert runs[SECOND][0]["seeds"] == str(CONFIG["scales"][SCALE]["seeds"])
    rows = pd.read_csv(root / "reference/claims.csv")
    assert [*dict.fromkeys(rows["paper"])] == [SECOND, FIRST]
    pd.testing.assert_frame_equal(stored(root, "figure3a"), before)
    ledger = (root / "reference/ledger.md").read_text()
    assert f"## {SECOND}" in ledger
    assert f"## {FIRST}" in ledger
    assert read_json(root / "reference/data/wine.json")["files"]["a.csv"] == "0" * 64


def test_a_part_at_a_larger_scale_comes_beside_what_is_there(root: Path) -> None:
    before = stored(root, "figure1")
    publish_of(root, FIRST, scale="printed", value=0.7, setups=["criteo_steps"])
    table = stored(root, "figure1")
    smaller, larger = (table[table["scale"] == scale] for scale in (SCALE, "printed"))
    pd.testing.assert_frame_equal(smaller, before)
    assert {*larger[["setup", "value"]].itertuples(index=False, name=None)} == {("criteo_steps", 0.7)}
    runs = published.runs(root / "reference")[FIRST]
    assert [(made["run"], made["scale"], made["commit"][0]) for made in runs] == [
        ("1", SCALE, "a"),
        ("2", "printed", "b"),
    ]
    assert "at the scales reference and printed" in (root / "reference/ledger.md").read_text()


def test_a_cell_is_replaced_by_one_of_its_scale_setup_and_defense_and_all_others_stay(root: Path) -> None:
    before = stored(root, "figure3a")
    publish_of(root, FIRST, value=0.9, setups=["criteo"], defenses=["iso"])
    after = stored(root, "figure3a")
    new = (after["setup"] == "criteo") & after["defense"].isin(["none", "iso"])
    assert {*after.loc[new, "value"]} == {0.9}
    assert {*after.loc[new, "run"]} == {2}
    keys = ["setup", "defense"]
    kept = before.merge(after[~new], on=keys, suffixes=("", " after"))
    assert len(kept) == len(before) - 2 == len(after) - 2
    assert kept["value"].equals(kept["value after"])
    assert {*kept["run after"]} == {1}


def test_what_is_as_it_was_stays_of_the_run_that_measured_it(root: Path) -> None:
    files = [file for file in sorted((root / "reference").rglob("*")) if file.is_file()]
    before = [file.read_bytes() for file in files]
    assert publish_of(root, FIRST).startswith("0 exhibits of no paper")
    assert [file.read_bytes() for file in files] == before


def kill_at(step: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Publish, and be killed when a step begins."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(redrawn, step, killed)
        with pytest.raises(KeyboardInterrupt):
            publish_of(root, FIRST, value=0.7)


def test_what_was_killed_in_between_is_published_by_the_next_try(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kill_at("draw", root, monkeypatch)
    assert "0 exhibits" not in publish(root, "c" * 40, SCALE)
    assert [made["commit"][0] for made in published.runs(root / "reference")[FIRST]] == ["c"]


def test_what_was_killed_while_it_judged_is_judged_by_the_next_try(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kill_at("judge", root, monkeypatch)
    publish(root, "c" * 40, SCALE)
    found = (root / "reference/claims.csv").read_bytes()
    redrawn.judge(redrawn.plan_of(root, [FIRST]), root / "reference")
    assert (root / "reference/claims.csv").read_bytes() == found


def test_a_run_of_which_no_cell_is_left_has_no_row(root: Path) -> None:
    publish_of(root, FIRST, value=0.7)
    assert [made["commit"][0] for made in published.runs(root / "reference")[FIRST]] == ["b"]


def test_generated_data_take_no_place_of_real_ones_and_give_theirs_to_them(root: Path) -> None:
    before = stored(root, "figure3a")
    for weaker in ("stand-in", "sample"):
        said = publish_of(root, FIRST, scale="printed", value=0.1, provenance=weaker)
        assert "left out is criteo" in said
        assert said.startswith("0 exhibits")
    pd.testing.assert_frame_equal(stored(root, "figure3a"), before)
    assert read_json(root / "reference/data/criteo.json")["provenance"] == "real"
    invented = root / "invented"
    invented.mkdir()
    publish_of(invented, FIRST, provenance="stand-in")
    publish_of(invented, FIRST, scale="printed", setups=["criteo_steps"])
    table = stored(invented, "figure1")
    assert {*table[["setup", "provenance", "scale"]].itertuples(index=False, name=None)} == {
        ("criteo_steps", "real", "printed"),
        ("digits_vs_rest", "stand-in", SCALE),
    }


def test_why_an_attack_does_not_apply_goes_once_it_does() -> None:
    def table(run: str, scale: str, **more: str) -> pd.DataFrame:
        own = dict.fromkeys(cells.WHO, "") | {"setup": "bank", "provenance": "real", "all": "0", "skipped": ""} | more
        return pd.DataFrame([own]).assign(seed="0", scale=scale, run=run)

    exhibit = {"setups": ["bank"], "defenses": ["none"], "attacks": ["norm", "hint"]}
    old = [
        table("1", scale, attack=attack, skipped="no hint") for scale in (SCALE, "printed") for attack in ("", "hint")
    ]
    new = table("2", SCALE, defense="none", attack="hint")
    found = merge.merged(pd.concat(old), new, exhibit, [SCALE, "printed"])
    assert [*found[["scale", "attack", "run"]].itertuples(index=False, name=None)] == [
        (SCALE, "", "1"),
        (SCALE, "hint", "2"),
        ("printed", "", "1"),
        ("printed", "hint", "1"),
    ]


def test_setups_are_in_the_order_of_the_exhibit_and_new_cells_where_the_old_ones_of_a_defense_were() -> None:
    def table(run: str, setup: str) -> pd.DataFrame:
        own = dict.fromkeys(cells.WHO, "") | {"setup": setup, "provenance": "real", "all": "0", "skipped": ""}
        return pd.DataFrame([own] * 2).assign(defense=["none", "dp"], seed="0", value=run, scale=SCALE, run=run)

    exhibit = {"setups": ["bank", "robot"], "defenses": ["none", "dp"], "attacks": []}
    found = merge.merged(table("1", "robot"), table("2", "bank"), exhibit, [SCALE])
    assert [*found["setup"] + " " + found["defense"]] == ["bank none", "bank dp", "robot none", "robot dp"]
    again = merge.merged(found, table("3", "bank").iloc[:1], exhibit, [SCALE])
    assert [*again["defense"] + again["run"]] == ["none3", "dp2", "none1", "dp1"]


def test_a_run_of_fewer_seeds_takes_no_numbers_away() -> None:
    def table(run: str, seeds: int, skipped: str = "") -> pd.DataFrame:
        own = dict.fromkeys(cells.WHO, "") | {"setup": "bank", "defense": "none", "provenance": "real", "all": "0"}
        more = {"skipped": skipped, "value": run, "scale": SCALE, "run": run}
        return pd.DataFrame([own | {"seed": str(seed)} | more for seed in range(seeds)])

    exhibit = {"setups": ["bank"], "defenses": ["none"], "attacks": []}
    for new, run in ((table("2", 2), "1"), (table("2", 3), "2"), (table("2", 1, "failed: out of memory"), "1")):
        assert {*merge.merged(table("1", 3), new, exhibit, [SCALE])["run"]} == {run}
    assert {*merge.merged(table("1", 1, "failed: out of memory"), table("2", 1), exhibit, [SCALE])["run"]} == {"2"}


def test_cells_that_are_left_out_for_their_fewer_seeds_are_told(root: Path) -> None:
    file = published.cells(root / "reference", FIRST, "figure1")
    table = redrawn.read(file)
    pd.concat([table, table.assign(seed="1")]).to_csv(file, index=False)
    said = publish_of(root, FIRST, value=0.7)
    assert f"left out are cells of {', '.join(dict.fromkeys(table['setup']))} of fewer seeds" in said
    assert "left out" not in publish_of(root, FIRST, scale="printed", value=0.7, setups=["criteo_steps"])


def test_exhibits_that_a_paper_has_no_more_go(root: Path) -> None:
    stale = root / f"reference/exhibits/{FIRST}/gone.csv"
    stale.write_text("old")
    publish_of(root, FIRST, value=0.7)
    assert not stale.exists()


@pytest.mark.parametrize(
    ("made", "asked", "said"),
    [
        ("quick", "quick", "publish.scale: quick judges no printed numbers"),
        ("quick", SCALE, f"publish.results: has no exhibit at scale {SCALE}"),
        (SCALE, "printd", "params.yaml: there is no scale 'printd'"),
    ],
)
def test_what_is_not_of_a_scale_that_judges_is_not_published(root: Path, made: str, asked: str, said: str) -> None:
    kept = (root / "reference/claims.csv").read_bytes()
    run(root, SECOND, scale=made)
    with pytest.raises(InputError, match=f"^{re.escape(said)}"):
        publish(root, "b" * 40, asked)
    assert (root / "reference/claims.csv").read_bytes() == kept


def test_what_is_not_there_is_named_before_anything_is_written(root: Path) -> None:
    kept = (root / "reference/runs.csv").read_bytes()
    run(root, FIRST, value=0.7)
    (root / "data/normalised/criteo.json").unlink()
    with pytest.raises(InputError, match=r"criteo\.json: is not there"):
        publish(root, "b" * 40, SCALE)
    assert (root / "reference/runs.csv").read_bytes() == kept


def test_code_that_is_not_committed_is_refused(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    with pytest.raises(InputError, match=r"^publish\.commit"):
        commit_of(tmp_path)
    git("init")
    (tmp_path / "params.yaml").write_text("scale: quick\n")
    (tmp_path / "notes.txt").write_text("whatever")
    with pytest.raises(InputError, match=r"uncommitted changes \(params\.yaml\)"):
        commit_of(tmp_path)
    git("add", "params.yaml")
    git("commit", "--message", "all")
    assert len(commit_of(tmp_path)) == 40


def test_hours_are_those_of_the_papers_jobs_at_this_scale(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    plan = Plan(CONFIG | {"papers": ["tappfl"], "scale": SCALE})
    shown = plan.setups_used
    (long,) = (setup for grain in plan.grains if grain.one_seed for setup in grain.setups if setup in shown)
    defense = next(d for _, _, exhibit in plan.exhibits() for setup, d in sorted(plan.runs(exhibit)) if setup == long)
    others = ["run/loans_race/tappfl", "normalise/loans"]
    asked = [f"run/{long}/{defense}.seed{seed}" for seed in range(2)] + others
    of_another = [f"run/{long}/{defense}", "run/loans_race/tappfl.seed0", "run/wine/none"]  # scale, scale, paper
    for job in asked + of_another:
        file = tmp_path / f"{job}.benchmark.tsv"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("s\th:m:s\n3600.0\t1:00:00\n")
    assert hours(plan, "tappfl", tmp_path) == len(asked) / 2


def test_comparing_finds_the_rows_whose_intervals_are_apart(tmp_path: Path) -> None:
    nothing = float("nan")
    yours = [
        row("a", "apart", 0.5, 0.4, 0.6), row("a", "within", 0.5, 0.4, 0.6), row("a", "touching", 0.5, 0.4, 0.6),
        row("a", "exact", 3, nothing, nothing), row("a", "count", 3, 3, 3), row("a", "same", 1 / 3, nothing, nothing),
        row("a", "lacking", nothing, nothing, nothing), row("a", "none", nothing, nothing, nothing),
        row("a", "yours", 1, 1, 1),
    ]  # fmt: skip
    reference = [
        row("a", "apart", 0.8, 0.7, 0.9), row("a", "within", 0.59, 0.58, 0.9), row("a", "touching", 0.7, 0.6, 0.8),
        row("a", "exact", 3.1, nothing, nothing), row("a", "count", 4, 4, 4), row("a", "same", 1 / 3, nothing, nothing),
        row("a", "lacking", 1, 0.9, 1.1), row("a", "none", nothing, nothing, nothing),
        row("b", "theirs", 1, 1, 1), row("b", "theirs too", 1, 1, 1),
    ]  # fmt: skip
    for name, rows in (("yours", yours), ("reference", reference)):
        scale = "quick" if name == "yours" else SCALE
        cells.write(pd.DataFrame(rows).assign(scale=scale), tmp_path / f"{name}.csv")
    said = compare(tmp_path / "yours.csv", tmp_path / "reference.csv")
    assert [line.split("|")[2].strip() for line in said.splitlines() if line.startswith("| a")] == [
        "apart", "exact", "count",
    ]  # fmt: skip
    assert said.startswith("Yours is at scale quick, the reference at scale reference. Their sizes differ")
    assert "8 rows compared, 3 differ by more than their intervals, 1 have a number on one side only" in said
    assert said.endswith("1 only in yours, 2 only in the reference.")
    assert "0.40 to 0.60" in said
    same = compare(tmp_path / "yours.csv", tmp_path / "yours.csv")
    assert len(same.splitlines()) == 2
    assert "9 rows compared, 0 differ" in same


def test_without_a_reference_comparing_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^compare\.reference: there is no"):
        compare(tmp_path / "claims.csv", tmp_path / "reference/claims.csv")


def test_what_was_published_before_an_exhibit_came_is_shown_without_it(once: Path) -> None:
    plan = Plan(CONFIG | {"papers": [FIRST, SECOND], "scale": SCALE})
    new = {"title": "new", "draw": {"use": "frontier"}}
    claim = {"text": "New.", "check": {"exhibit": "new"}}
    content = plan.papers[FIRST]
    changed = content | {
        "exhibits": content["exhibits"] | {"new": new}, "claims": content["claims"] | {"new": claim},
        "main": [{"text": "New.", "claims": ["new"]}], "errata": {"1": {"text": "It is.", "check": "exhibit new"}},
    }  # fmt: skip
    shown = published.available(once / "reference", plan.papers | {FIRST: changed})
    assert [*shown] == [FIRST]
    assert shown[FIRST]["exhibits"].keys() == content["exhibits"].keys()
    assert shown[FIRST]["claims"].keys() == content["claims"].keys()
    assert shown[FIRST]["main"] == [{"text": "New.", "claims": []}]
    assert not shown[FIRST]["errata"]
    assert published.available(once / "nowhere", plan.papers) == {}


@pytest.mark.parametrize(("paper", "name"), CHOOSING)
def test_a_table_has_the_settings_that_its_rule_chooses_of_the_published_sweeps(paper: str, name: str) -> None:
    """Exhibits of the same paper that choose nothing have the numbers of every setting."""
    exhibits = PUBLISHED[paper]["exhibits"]
    tables = {one: cells.load(published.cells(ROOT / "reference", paper, one)) for one in exhibits}
    own, rule = tables[name], exhibits[name]["choose"]
    whole = [tables[one] for one, exhibit in exhibits.items() if not {"choose", "settings"} & exhibit.keys()]
    whole = [table for table in whole if {rule["utility"], rule["leak"]} <= {*table["metric"]}]
    whole = [table for table in whole if rule["attack"] in {*table["attack"]}]  # others are of other runs
    place = [*cells.WHO, cells.axis(own), "seed", "scale"]
    sweep = pd.concat(whole).drop_duplicates(place)
    several = sweep.groupby(KEYS)["setting"].transform("nunique") > 1
    shown = _keys(own).intersection(_keys(sweep[several])).unique()
    sweep = sweep[_keys(sweep).isin(shown) | (sweep["defense"] == "none")]
    found = pd.concat([selection.chosen(part, rule) for _, part in sweep.groupby("scale")])
    both = own[_keys(own).isin(shown)].merge(found, on=[*KEYS, "attack", "metric", "seed"], suffixes=("", " chosen"))
    assert len(shown)
    assert {*_keys(both)} == {*shown}
    for column in ("setting", "value"):
        assert both[column].tolist() == both[f"{column} chosen"].tolist()


def _keys(table: pd.DataFrame) -> pd.MultiIndex:
    return pd.MultiIndex.from_frame(table[KEYS])


def test_the_readme_says_which_papers_are_in_the_reference_run() -> None:
    told = dict(re.findall(r"^\| \[(\w+)\]\(.*\| (.*) \|$", (ROOT / "README.md").read_text(), flags=re.M))
    assert {paper for paper, status in told.items() if "scale reference" in status} == {
        *published.runs(ROOT / "reference")
    }
    assert told.keys() >= {*CONFIG["papers"]}


def test_of_a_table_that_is_published_there_is_no_picture() -> None:
    exhibits = ROOT / "reference/exhibits"
    tables, pictures = ({file.with_suffix("") for file in exhibits.glob(f"*/*.{kind}")} for kind in ("md", "png"))
    assert tables
    assert pictures
    assert not tables & pictures


def test_more_than_is_to_be_committed_is_refused(root: Path, monkeypatch) -> None:
    monkeypatch.setattr("cutlayer.reference.publish.LIMIT", 0.001)
    with pytest.raises(InputError, match=r"reference: takes \d+\.\d MB; at most 0\.001 are committed"):
        publish_of(root, SECOND)
