"""The exhibits of papers/tcpo on made-up cells: what is drawn, and what every claim and printed number finds."""

from __future__ import annotations

import functools
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.figures import body, curves, cut_off, visible
from tests.params import params

from cutlayer.core.seeds import generator
from cutlayer.exhibits._columns import first_of
from cutlayer.ledger.cells import NO_SEED, WHO
from cutlayer.ledger.claims import Scale, judge
from cutlayer.ledger.evidence import per_setup
from cutlayer.ledger.selection import chosen
from cutlayer.plan import families
from cutlayer.plan.plan import Plan
from cutlayer.plan.sweeps import settings_of

PROJECT = Path(__file__).parents[2]
PAPER = families.read(PROJECT / "workflow/papers/tcpo", "tcpo")
PUBLISHED = pd.read_csv(PROJECT / "workflow/papers/tcpo/published.csv")
CONFIG = params()
SETTINGS = {  # the least that params.yaml must have
    "none": [""],
    "adv": ["omega=1.0", "omega=3.0"],
    "adv2": ["omega=1.0", "omega=3.0"],
    "infocensor": ["weight=0.1", "weight=0.3"],
    "linear": ["weight=0.5", "weight=5.0"],
    "tcpo": ["threshold=0.005", "threshold=0.003", "threshold=0.001"],
    "tcpo_kernels": ["threshold=0.005"],
    "tcpo_exact": ["threshold=0.005"],
    "tcpo_exact_sgd": ["threshold=0.005"],
}
ATTACKS = ["basic", "dsa", "dpa", "decensoring"]
AT_INFERENCE = {"basic", "decensoring"}
OF_A_RUN = {
    "test_accuracy",
    "utility_loss",
    "leakage",
    "threshold_broken",
    "privacy_ascent",
    "stopped",
    "pretraining_steps",
}
FEW = {"celeba_male", "adult_sex", "adult_sex_poisoned"}  # of each kind one, where all are alike
SEEDS = 3


def cell(value, place=0, along="all", seeds=SEEDS, skipped="", **who):
    """The rows of one cell: WHO, the axis, seed, value, ...; a value that differs a little from seed to seed."""
    common = dict.fromkeys(WHO, "") | {"features": 8, "dataset": who["setup"], "provenance": "real"} | who
    common |= {along: place, "n": 0, "cases": 1, "skipped": skipped}
    numbers = range(seeds) if seeds else [NO_SEED]
    return [common | {"seed": seed, "value": value + 1e-4 * math.sin(99 * value + seed)} for seed in numbers]


def dataset_of(setup):
    return setup.split("_")[0]


def measured(exhibit, setup):
    """Made-up rows of one setup of an exhibit."""
    metrics, along = set(exhibit["metrics"]), exhibit["along"]
    defenses = SETTINGS if exhibit["defenses"] == "all" else exhibit["defenses"]
    attacks = ATTACKS if exhibit.get("attacks") == "all" else exhibit.get("attacks", [])
    values = generator("made up", "tcpo", setup)
    for defense in defenses:
        for setting in SETTINGS[defense]:
            own = {"setup": setup, "dataset": dataset_of(setup), "defense": defense, "setting": setting}
            for metric in sorted(metrics & OF_A_RUN):
                for place in (1, 50, 100) if along == "step" else [0]:
                    yield from cell(values.uniform(0.7, 0.9), place, along, **own, metric=metric)
            for attack in attacks:
                for metric in sorted(metrics - OF_A_RUN):
                    if not (metric.endswith("_max") and attack in AT_INFERENCE):
                        yield from cell(values.uniform(0.5, 0.9), 0, along, **own, attack=attack, metric=metric)


@functools.cache
def made_up(name):
    """Cells of an exhibit as `cells.gather` gives them."""
    exhibit = PAPER["exhibits"][name]
    along, rows = exhibit["along"], []
    for setup in exhibit["setups"]:
        if exhibit["sources"] in (["data"], ["grids"]):
            metrics = exhibit.get("metrics", ["omega"])
            rows += [row for metric in metrics for row in cell(2, seeds=0, setup=setup, metric=metric)]
        else:
            rows += measured(exhibit, setup)
    cells = pd.DataFrame(rows)[[*WHO, along, "seed", "value", "n", "cases", "skipped"]]
    cells = cells.assign(tested=0, chance=0.3, error=math.nan)
    if "settings" in exhibit:
        cells = cells[cells["setting"].isin([*exhibit["settings"], ""])]
    return chosen(cells, exhibit["choose"]) if "choose" in exhibit else cells


# The paper's file.


def test_every_table_that_chooses_says_by_which_rule():
    for name, exhibit in PAPER["exhibits"].items():
        if "choose" in exhibit and name != "table3_tabular" and not name.endswith("_plain"):  # like one that says it
            assert "at most 2 points of test accuracy" in " ".join(exhibit["caption"].split())
            assert exhibit["choose"]["within"] == 0.02


def on_few(cells):
    return cells[cells["setup"].isin(FEW)]


def test_every_claim_and_headline_finds_its_cells():
    cells = {name: on_few(made_up(name)) for name in PAPER["exhibits"]}
    headline = {
        name: {"text": name, "place": name, "check": entry["check"]} for name, entry in PAPER["headline"].items()
    }
    claims = PAPER["claims"] | headline
    found = judge("tcpo", {"claims": claims}, PUBLISHED, cells, Scale("paper"))
    assert set(found["item"]) == set(claims)
    assert set(found["verdict"]) <= {"holds", "fails", "undecided", "no common range", "no signal"}
    for name, claim in claims.items():
        exhibit = PAPER["exhibits"][claim["check"]["exhibit"]]
        expected = [s for s in claim["check"].get("setups", exhibit["setups"]) if s in FEW]
        assert found.loc[found["item"] == name, "setup"].tolist() == expected != []


def test_every_printed_number_is_compared_with_the_same_setup_defense_and_attack():
    cells = {name: made_up(name) for name in PAPER["exhibits"]}
    found = judge("tcpo", {"claims": {}, "numbers": PAPER["numbers"]}, PUBLISHED, cells, Scale("paper"))
    assert len(found) == len(PUBLISHED)
    kinds = {
        "utility_accuracy": ("", "test_accuracy"), "basic_accuracy": ("basic{}", "attack_accuracy"),
        "dsa_accuracy": ("dsa{}", "attack_accuracy_max"), "dpa_accuracy": ("dpa{}", "attack_accuracy_max"),
        "attack_accuracy": ("", "most_common"),
    }  # fmt: skip
    for row in PUBLISHED.to_dict("records"):
        statement = f"{row['target']}, {row['method']}: {row['metric']}"
        own = found[(found["item"] == row["item"]) & (found["statement"] == statement)]
        setup = f"{row['dataset']}_{row['target']}".replace("wearing_", "")
        attack, metric = kinds[row["metric"]]
        guess = row["method"] == "random_guess"  # the share among all records
        reading = own["reading"].item()
        part = {"plain": "_plain", "standardized": "", "": ""}[reading.split(" ")[0].rstrip(",")]
        where = {"setup": setup, "attack": attack.format(part), "metric": metric}
        where |= {} if guess else {"defense": row["method"]}
        ours = made_up("table1" if guess else row["item"] + part)
        for column, value in where.items():
            ours = ours[ours[column] == value]
        assert own[["setup", "published"]].to_numpy().tolist() == [[setup, row["value"] / 100]]
        assert own["ours"].item() == pytest.approx(ours["value"].mean())
        assert ours["setting"].nunique() == 1


def test_the_numbers_that_are_printed_as_near_random_guess_are_so_by_the_rule():
    """The rule's 0.12 is the paper's own; its printed tables would hold every claim of nearness."""
    attacks = PUBLISHED[PUBLISHED["item"].isin(["table4", "table5"])].set_index(["dataset", "target"])
    guess = attacks.loc[attacks["method"] == "random_guess", "value"]
    near = attacks[attacks["method"].isin(["tcpo", "infocensor"]) & attacks["metric"].eq("basic_accuracy")]
    distance = (near["value"] - guess.reindex(near.index)).max()
    assert 11 < distance <= 12
    assert PAPER["claims"]["near_guess_basic"]["check"]["at_most"] == 0.12


def test_no_reason_stands_on_rows_of_more_than_one_kind():
    """Defended or not, of utility or of a leak: what explains the one need not be true of the other."""
    kinds = {}
    for number in PAPER["numbers"]:
        row = number["published"]
        if number["why"]:
            kind = row["method"] == "none", row["metric"] == "utility_accuracy"
            kinds.setdefault(number["why"], set()).add(kind)
    assert len(kinds) > 8
    assert {why: own for why, own in kinds.items() if len(own) > 1} == {}


def test_what_a_reason_rests_on_is_there():
    """An exhibit, a claim, a test's file or a benchmark's page."""
    there = {*PAPER["exhibits"], *PAPER["claims"]} | {path.name for path in (PROJECT / "tests").rglob("*.py")}
    pages = (*PROJECT.glob("docs/readings/*.md"), *PROJECT.glob("workflow/benchmarks/*.md"))
    there |= {str(path.relative_to(PROJECT)) for path in pages}
    for entry in [*PAPER["claims"].values(), *PAPER["numbers"]]:
        for names in re.findall(r"\(([\w./, ]+)\)", entry.get("why", "")):
            assert {*names.split(", ")} <= there, entry["why"]


FEWER = {  # at scale quick, for its five minutes
    f"celeba_{attribute}{poisoned}": {"tcpo": {"threshold=0.005", *more}}
    for attribute, more in {"male": ["threshold=0.001"], "attractive": [], "lipstick": []}.items()
    for poisoned in ("", "_poisoned")
}


@pytest.mark.parametrize("scale", CONFIG["scales"])
def test_every_setting_that_the_paper_names_is_run_at_every_scale(scale):
    """At scale quick fewer of TCPO's thresholds on photographs."""
    plan = Plan(CONFIG | {"scale": scale, "papers": ["tcpo"]})
    tcpo = {name: set(own) for name, own in SETTINGS.items() if name.startswith("tcpo")}
    fewer = FEWER if scale == "quick" else {}
    for exhibit in plan.papers["tcpo"]["exhibits"].values():
        for setup, defense in plan.runs(exhibit):
            named = tcpo | {"linear": {"weight=0.5"}} | fewer.get(setup, {})
            assert named.get(defense, set()) <= set(settings_of(plan.defense(setup, defense))), (setup, defense)


def test_the_starting_point_is_held_as_the_mean_that_the_figure_shows():
    """One seed above the threshold does not make it fail."""
    own = {"setup": "adult_sex", "defense": "tcpo", "setting": "threshold=0.001", "metric": "leakage"}
    rows = [row for place in (1, 100) for row in cell(0.5, place, "step", **own)]
    claim = {"starts": PAPER["claims"]["starts_below_001"]}
    verdicts = []
    for starts in ((0.0001, 0.0002, 0.00015), (0.0002, 0.0002, 0.0011), (0.002, 0.0021, 0.0022)):
        for row, start in zip(rows, starts, strict=False):
            row["value"] = start
        cells = {"figure3": pd.DataFrame(rows)[columns("step")]}
        verdicts += list(judge("tcpo", {"claims": claim}, PUBLISHED, cells, Scale("paper"))["verdict"])
    assert verdicts == ["holds", "undecided", "fails"]


def test_the_final_privacy_loss_is_that_of_the_last_step():
    check = PAPER["claims"]["ends_near_003"]["check"]
    rows = []
    for place, value in ((1, 0.001), (50, 0.9), (100, 0.003)):
        own = {"setup": "adult_sex", "defense": "tcpo", "setting": "threshold=0.003", "metric": "leakage"}
        rows += cell(value, place, "step", **own)
    (found,) = per_setup(check | {"setups": ["adult_sex"]}, {"figure3": pd.DataFrame(rows)[columns("step")]})
    assert found.compared.shown.mean == pytest.approx(0.003, abs=1e-3)


def columns(along):
    return [*WHO, along, "seed", "value", "n", "cases", "skipped"]


# Drawings.


def test_of_a_case_the_first_metric_that_it_has_counts():
    rows = []
    for attack, metrics in (("basic", ["last"]), ("dsa", ["last", "max"])):
        for metric in metrics:
            rows += cell(0.5, setup="s", defense="none", attack=attack, metric=metric)
    rows += cell(math.nan, setup="s", seeds=0, skipped="failed: x", defense="adv", attack="basic")
    found = first_of(pd.DataFrame(rows), ["max", "last"])
    pairs = set(zip(found["attack"], found["metric"], strict=True))
    assert pairs == {("basic", "last"), ("dsa", "max"), ("basic", "")}


def test_a_table_shows_the_chosen_setting_and_its_columns_in_the_order_asked_for(draw):
    exhibit = PAPER["exhibits"]["table3"]
    options = {key: value for key, value in exhibit["draw"].items() if key != "use"}
    draw("table", made_up("table3"), **options)
    head, rows = body(draw.folder)
    assert head == [
        "setup", "scheme", "test accuracy", "basic majority", "basic attack accuracy", "dsa attack accuracy max",
        "dsa attack accuracy", "dpa attack accuracy max", "dpa attack accuracy", "data",
    ]  # fmt: skip
    assert [row[0] for row in rows] == [setup for setup in exhibit["setups"] for _ in range(3)]
    for row, defense in zip(rows, ["none", "linear", "tcpo"] * 3, strict=True):
        cells = made_up("table3")
        (setting,) = cells.loc[(cells["setup"] == row[0]) & (cells["defense"] == defense), "setting"].unique()
        assert row[1] == f"{defense} {setting}".strip()
        assert all(row)


def test_a_table_lists_a_grid(draw):
    rows = []
    for setup, values in (("celeba_male", (0.5, 1.0, 3.0)), ("health_age", (0.01, 10.0))):
        for value in values:
            own = {"setup": setup, "defense": "adv", "setting": f"omega={value}", "metric": "omega"}
            rows += [row | {"value": value} for row in cell(0, seeds=0, **own)]
    draw("table", rows, columns="defense, metric", listed=True)
    head, lines = body(draw.folder)
    assert head[1:] == ["adv omega", "data"]
    assert [line[1] for line in lines] == ["0.5, 1, 3", "0.01, 10"]


def tradeoff():
    rows = []
    for attack, leaks in (
        ("basic", {"attack_accuracy": 0.6}),
        ("dpa", {"attack_accuracy": 0.6, "attack_accuracy_max": 0.8}),
    ):
        for defense, setting in (("none", ""), ("tcpo", "threshold=0.005"), ("tcpo", "threshold=0.001")):
            own = {"setup": "adult_sex", "defense": defense, "setting": setting}
            for metric, value in {**leaks, "majority": 0.67 if attack == "basic" else 0.66}.items():
                rows += cell(value, **own, attack=attack, metric=metric)
            if attack == "basic":
                rows += cell(0.8, **own, metric="test_accuracy")
    return rows


def test_figure_4_draws_the_papers_metric_of_each_attack_and_its_random_guess(draw):
    options = {key: value for key, value in PAPER["exhibits"]["figure4"]["draw"].items() if key != "use"}
    basic, dpa = visible(draw("frontier", tradeoff(), **options))
    for axis, leak, guess in ((basic, 0.6, 0.67), (dpa, 0.8, 0.66)):
        _, *lines, chance = curves(axis)
        assert [len(line.get_xdata()) for line in lines] == [1, 2]
        np.testing.assert_allclose(np.concatenate([line.get_ydata() for line in lines]), leak, atol=1e-3)
        np.testing.assert_allclose(np.concatenate([line.get_xdata() for line in lines]), 0.8, atol=1e-3)
        np.testing.assert_allclose(chance.get_ydata(), guess, atol=1e-3)


def training(defense, setting, leak=(0.004, 0.002, 0.004, 0.005)):
    rows = []
    for step, (x, y) in enumerate(zip(leak, (0.9, 0.6, 0.3, 0.3), strict=True), start=1):
        own = {"setup": "adult_sex", "defense": defense, "setting": setting}
        for metric, value in (("leakage", x), ("utility_loss", y)):
            rows += [row | {"value": value} for row in cell(0, 10 * step, "step", **own, metric=metric)]
    return rows


def test_a_trajectory_is_smoothed_runs_from_first_to_last_and_marks_the_threshold(draw):
    rows = training("linear", "weight=0.5", (0.3, 0.2, 0.1, 0.1)) + training("tcpo", "threshold=0.005")
    options = {key: value for key, value in PAPER["exhibits"]["figure3"]["draw"].items() if key != "use"}
    (axis,) = visible(draw("trajectory", rows, "step", **options))
    linear, threshold, tcpo = curves(axis)
    np.testing.assert_allclose(tcpo.get_xdata(), np.array([10, 10, 11, 14]) / 3000)
    np.testing.assert_allclose(tcpo.get_ydata(), [0.8, 0.6, 0.4, 0.3])
    np.testing.assert_allclose(linear.get_xdata(), np.array([0.8, 0.6, 0.4, 0.3]) / 3)
    assert list(threshold.get_xdata()) == [0.005, 0.005]
    assert threshold.get_color() == tcpo.get_color() != linear.get_color()
    assert axis.get_xscale() == "log"
    assert len(axis.texts) == 2 * 3  # arrows


def test_a_trajectory_without_a_privacy_loss_is_left_out(draw):
    rows = [row for row in training("none", "") if row["metric"] == "utility_loss"] + training(
        "tcpo", "threshold=0.005"
    )
    (axis,) = visible(draw("trajectory", rows, "step"))
    assert len(curves(axis)) == 1


@pytest.mark.parametrize(
    "name", ["table1", "table2", "table5", "figure3", "figure3_steps", "guarantee", "figure4_tabular"]
)
def test_an_exhibit_can_be_drawn(draw, name):
    exhibit = PAPER["exhibits"][name]
    options = {key: value for key, value in exhibit["draw"].items() if key != "use"}
    figure = draw(exhibit["draw"]["use"], made_up(name), exhibit["along"], **options)
    assert visible(figure)
    assert cut_off(figure) == []
