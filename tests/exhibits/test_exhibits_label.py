"""The exhibits of papers/marvell and papers/secdt on made-up cells: what is drawn, and what every claim finds."""

from __future__ import annotations

import functools
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.figures import curves, cut_off, labeled, visible
from tests.params import params

from cutlayer.core.failures import FEW
from cutlayer.core.seeds import generator
from cutlayer.exhibits._columns import column, inapplicable, scheme, spread_skips, without_partial_skips
from cutlayer.ledger.cells import NO_SEED, WHO
from cutlayer.ledger.claims import Scale, judge
from cutlayer.ledger.front import pareto_front
from cutlayer.ledger.worst import worst
from cutlayer.metrics.leakage import leak_auc
from cutlayer.plan import families
from cutlayer.plan.plan import Plan
from cutlayer.plan.sweeps import settings_of
from cutlayer.stages.measures import marvell as marvell_measures
from cutlayer.stages.theory import Case

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / "workflow/papers"
NAMES = ("marvell", "secdt")
PAPERS = {name: families.read(FOLDER / name, name) for name in NAMES}
PUBLISHED = {name: pd.read_csv(FOLDER / name / "published.csv") for name in NAMES}
EXHIBITS = [(paper, name) for paper, content in PAPERS.items() for name in content["exhibits"]]
CONFIG = params() | {"papers": [*NAMES]}
OF_A_RUN = {"test_auc", "test_log_loss", "test_utility", "ace", "seconds_per_step", "time_ratio"}
SEEDS = 3
WORTH = {"utility": "test_utility", "floor": "send_nothing"}


@functools.cache
def plan(scale):
    return Plan(CONFIG | {"scale": scale})


def cell(value, place=0, along="all", seeds=SEEDS, skipped="", **who):
    """The rows of one cell: WHO, the axis, seed, value, ...; a value that differs a little from seed to seed."""
    common = dict.fromkeys(WHO, "") | {"features": 8, "dataset": who["setup"], "provenance": "real"} | who
    common |= {along: place, "n": 0, "cases": 1, "skipped": skipped}
    numbers = range(seeds) if seeds else [NO_SEED]
    return [common | {"seed": seed, "value": value + 0.01 * math.sin(99 * value + seed)} for seed in numbers]


def reason(text, along="all", **who):
    return cell(math.nan, along=along, seeds=0, skipped=text, **({"metric": ""} | who))


def transcript(seed):
    """An undefended run's records of a linear top model, which only got to step 300, and the truth about them."""
    rng = generator("transcript", seed)
    steps, labels = [1, 100, 200, 300], (rng.random((4, 500)) < 0.2).astype(int)
    p = 1 / (1 + np.exp(2 - 1.5 * labels + rng.normal(size=labels.shape)))
    slope = rng.normal(size=16)
    seen = {"steps": np.array(steps), "gradients": ((p - labels)[:, :, None] * slope).astype(np.float32)}
    losses = -np.log(np.where(labels == 1, p, 1 - p))
    return seen, {"labels": labels, "losses": losses.astype(np.float32)}, slope


def theory(setup):
    for seed in range(SEEDS):
        seen, truth, _ = transcript(seed)
        for row in marvell_measures.measure(seen, truth, Case("marvell", setup, "none", "", seed)):
            who = {
                "setup": setup,
                "dataset": setup,
                "provenance": "real",
                "features": 8,
                "defense": "none",
                "attack": "",
            }
            yield {"quantile": np.nan, "skipped": "", "n": 0, "cases": 1, "seed": seed} | who | row


def measured(exhibit, setup, defenses):
    """Made-up rows of what one setup of an exhibit measures, where it applies."""
    along, metrics = exhibit["along"], set(exhibit["metrics"])
    left_out = {
        row.get(kind) for row in exhibit["inapplicable"] for kind in ("defense", "attack") if row["setup"] == setup
    }
    values = generator("made up", setup, *exhibit["attacks"])
    places = range(1, 6) if along in ("step", "day") else [0]
    for defense in [name for name in exhibit["defenses"] if name not in left_out]:
        for setting in settings_of(defenses[defense]):
            own = {"setup": setup, "defense": defense, "setting": setting}
            cases = [("", metric) for metric in sorted(OF_A_RUN & metrics)]
            attacks = [name for name in exhibit["attacks"] if name not in left_out]
            cases += [(attack, metric) for attack in attacks for metric in sorted(metrics - OF_A_RUN)]
            for attack, metric in cases:
                for place in places:
                    yield from cell(values.uniform(0.5, 0.9), place, along, **own, attack=attack, metric=metric)


def absent(row, along):
    return reason(row["skipped"], along, **{key: value for key, value in row.items() if key != "skipped"})


@functools.cache
def made_up(scale, paper, name):
    """Cells of an exhibit as `cells.gather` gives them."""
    exhibit = plan(scale).papers[paper]["exhibits"][name]
    along, rows = exhibit["along"], []
    for setup in exhibit["setups"]:
        if exhibit["sources"] == ["theory"]:
            rows += theory(setup)
        elif exhibit["sources"] == ["data"]:
            rows += [row for metric in exhibit["metrics"] for row in cell(0.2, setup=setup, metric=metric, seeds=0)]
        else:
            rows += measured(exhibit, setup, plan(scale).defenses)
    rows += [one for row in exhibit["inapplicable"] for one in absent(row, along)]
    cells = pd.DataFrame(rows)
    cells["dataset"] = cells["setup"].map({name: setup["dataset"] for name, setup in plan(scale).setups.items()})
    if "settings" in exhibit:
        cells = cells[cells["setting"].isin([*exhibit["settings"], ""])]
    cells = cells[[*WHO, along, "seed", "value", "n", "cases", "skipped"]].assign(tested=0, chance=0.5, error=math.nan)
    return worst(cells, exhibit["worst"]) if "worst" in exhibit else cells


def labels_of(figure):
    return [text.get_text() for text in figure.legends[0].get_texts()]


def words(figure):
    """All text of a figure that is no axis's, without line breaks."""
    return " ".join(" ".join(text.get_text() for text in figure.texts).split())


# The papers' files.


@pytest.mark.parametrize(
    "name", [name for paper, name in EXHIBITS if paper == "marvell" and name.startswith("figure3")]
)
def test_trade_offs_have_the_floor_and_hints_by_both_similarities(name):
    exhibit = PAPERS["marvell"]["exhibits"][name]
    assert "send_nothing" in exhibit["defenses"]
    assert "when zeros are sent (ours)" in exhibit["caption"]
    assert name == "figure3a" or exhibit["attacks"] == ["hint", "hint_cosine"]


def test_the_private_log_is_named_where_it_is_replaced():
    for name in ("figure4_leak", "figure4_utility"):
        caption = PAPERS["marvell"]["exhibits"][name]["caption"]
        assert "log is private; generated data in the form of Avazu's days are in its place" in caption


@pytest.mark.parametrize("scale", CONFIG["scales"])
@pytest.mark.parametrize("paper", NAMES)
def test_every_claim_and_headline_finds_its_cells_at_every_scale(paper, scale):
    content = plan(scale).papers[paper]
    cells = {name: made_up(scale, paper, name) for name in content["exhibits"]}
    headline = {
        name: {"text": name, "place": name, "check": entry["check"]} for name, entry in content["headline"].items()
    }
    claims = content["claims"] | headline
    found = judge(paper, {"claims": claims}, PUBLISHED[paper], cells, Scale("paper"))
    assert set(found["item"]) == set(claims)
    lacking = found[found["verdict"] == "no result"]
    fewer = {"marvell": "only in part: not at this scale: step 400", "secdt": "the run has no setting expansion=6"}
    assert lacking["why"].str.startswith(fewer[paper]).all()
    assert len(lacking) == (3 * 2 if paper == "marvell" else 3 * (scale == "quick"))


@pytest.mark.parametrize("paper", NAMES)
def test_every_printed_number_is_compared_or_said_not_to_be_comparable(paper):
    content = plan("paper").papers[paper]
    cells = {name: made_up("paper", paper, name) for name in content["exhibits"]}
    found = judge(paper, {"claims": {}, "numbers": content["numbers"]}, PUBLISHED[paper], cells, Scale("paper"))
    for row in PUBLISHED[paper].fillna("").to_dict("records"):
        printed = row["value"] / (100 if row["note"].startswith("percent") else 1)
        same = (found["item"] == row["item"]) & np.isclose(found["published"], printed, rtol=1e-12)
        own = found[same & (found["dataset"].eq(row["dataset"]) | (row["dataset"] == "all"))]
        assert not own.empty, row
        assert (own["verdict"] == "not comparable").all() == (row["dataset"] == "production")
        if row["dataset"] != "production" and row["item"] != "figure1":
            assert own["ours"].notna().all(), row


def test_a_training_that_ended_early_leaves_a_number_without_result():
    numbers, cells = PAPERS["marvell"]["numbers"][:4], {"figure1": made_up("quick", "marvell", "figure1")}
    found = judge("marvell", {"claims": {}, "numbers": numbers}, PUBLISHED["marvell"], cells, Scale("paper"))
    assert set(found["verdict"]) == {"decides a reading"}
    judged = [{key: value for key, value in number.items() if key != "decides"} for number in numbers]
    content = {"claims": {}, "numbers": judged}
    found = judge("marvell", content, PUBLISHED["marvell"], cells, Scale("paper"))
    assert list(found["verdict"] == "no result") == [False, False, False, True]
    assert found["why"].iloc[3] == "not at this scale: step 400 is not recorded, the last is 300"
    assert set(judge("marvell", content, PUBLISHED["marvell"], cells, Scale("quick", numbers=False))["verdict"]) == {
        "not at this scale"
    }


# Figure 1's quantities.


def test_the_norm_is_the_residual_times_the_slope():
    seen, truth, slope = transcript(0)
    found = marvell_measures.quantities(seen["gradients"][1], truth["losses"][1], truth["labels"][1])
    np.testing.assert_allclose(found["slope_norm"][0], np.linalg.norm(slope), rtol=1e-4)
    residual, norm = found["residual"][0], found["gradient_norm"][0]
    np.testing.assert_allclose(residual * np.linalg.norm(slope), norm, rtol=1e-4)
    assert residual[truth["labels"][1] == 1].mean() > residual[truth["labels"][1] == 0].mean()


def test_measured_quantiles_and_leaks_are_those_of_the_batch():
    seen, truth, _ = transcript(1)
    rows = pd.DataFrame(marvell_measures.measure(seen, truth, Case("marvell", "criteo", "none", "", 1)))
    norm = np.linalg.norm(seen["gradients"][2].astype(float), axis=1)
    own = rows[rows["setting"] == "step=200"]
    leak = own.loc[own["metric"] == "leak_auc_of_gradient_norm", "value"].item()
    assert leak == leak_auc(norm, truth["labels"][2])
    median = own.loc[(own["metric"] == "gradient_norm_negative") & (own["quantile"] == 0.5), "value"].item()
    assert median == np.median(norm[truth["labels"][2] == 0])
    assert set(rows["setting"]) == {f"step={step}" for step in (100, 200, 300, 400)}


def test_examples_without_a_loss_have_no_slope():
    labels, losses = np.array([1, 1, 0, 0]), np.array([0.0, 1.0, 1.0, 2.0], dtype=np.float32)
    found = marvell_measures.quantities(np.ones((4, 2), dtype=np.float32), losses, labels)
    assert len(found["slope_norm"][0]) == 3
    assert len(found["residual"][0]) == 4


# The Pareto front.

points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@given(points)
def test_without_noise_the_front_is_what_no_other_point_beats(pairs):
    cost, gain = (np.repeat(side[:, None], 3, axis=1) for side in np.array(pairs, dtype=float).reshape(-1, 2).T)
    beaten = [any(c <= a and g >= b and (c, g) != (a, b) for c, g in pairs) for a, b in pairs]
    np.testing.assert_array_equal(pareto_front(cost, gain), ~np.array(beaten, dtype=bool))


def test_noise_has_no_front():
    rng = generator("front", "noise")
    found = [pareto_front(*rng.normal(size=(2, 8, 3))).sum() for _ in range(200)]
    assert np.mean(found) < 0.2  # of 8 points that are the same


def test_what_is_cheaper_and_no_worse_in_every_seed_is_in_front_whatever_the_seeds_share():
    shared = np.array([0.0, 5.0, -3.0])
    cost, gain = np.stack([shared + 0.1, shared + 0.4]), np.stack([shared, shared - 0.2])
    assert pareto_front(cost, gain).tolist() == [True, False]


def test_one_seed_supports_no_front():
    assert not pareto_front([[0.1], [0.2]], [[0.2], [0.3]]).any()


# What cells are grouped by.


def test_a_scheme_names_defense_and_setting_once():
    assert scheme("none", "") == "none"
    assert scheme("marvell", "sum_kl=0.1") == "marvell sum_kl=0.1"
    assert scheme("marvell_error", "error=0.1") == "marvell_error=0.1"
    assert scheme("secdt_parts", "without_noise") == "secdt_parts without_noise"
    every = [(name, setting) for name, variant in plan("paper").defenses.items() for setting in settings_of(variant)]
    assert len({scheme(*one) for one in every}) == len(every)


def test_a_parameter_is_read_from_the_setting():
    cells = pd.DataFrame({"defense": "d", "setting": ["a=2,noise=0.0", "a=10,noise=0.3", "", "without_noise"]})
    assert column(cells, "a").tolist()[:2] == [2, 10]
    assert column(cells, "noise").tolist()[:2] == [0.0, 0.3]
    assert column(cells, "a").isna().tolist() == [False, False, True, True]
    words = pd.DataFrame({"defense": "d", "setting": ["kind=mean", "kind=2"]})
    assert column(words, "kind").tolist() == ["mean", "2"]


def test_what_a_method_skips_in_part_is_no_absence():
    rows = cell(0.5, setup="criteo", defense="none", attack="hint", metric="m")
    part = reason("for 5 hints", setup="criteo", defense="none", attack="hint")
    whole = reason("for 5 hints", setup="avazu", defense="none", attack="hint")
    cells = pd.DataFrame([*rows, *part, *whole])
    assert set(without_partial_skips(cells)["setup"][without_partial_skips(cells)["skipped"] != ""]) == {"avazu"}
    assert inapplicable(cells) == ["none / hint not on avazu: for 5 hints"]


def test_an_attack_that_meets_no_defense_is_said_once():
    rows = [row for d in ("none", "secdt") for row in cell(0.5, setup="mnist", defense=d, attack="norm", metric="m")]
    everywhere = [
        row for d in ("none", "secdt") for row in reason("for images", setup="mnist", defense=d, attack="dsa")
    ]
    once = reason("for 2 classes", setup="mnist", defense="secdt", attack="hint")
    assert inapplicable(pd.DataFrame([*rows, *everywhere, *once])) == [
        "dsa not on mnist: for images", "secdt / hint not on mnist: for 2 classes",
    ]  # fmt: skip


def test_what_several_schemes_lack_alike_is_said_once():
    settings = [
        ("none", ""),
        ("marvell", "sum_kl=1"),
        ("marvell", "sum_kl=2"),
        ("dp", "epsilon=1"),
        ("dp", "epsilon=2"),
    ]
    rows, lacking = [], []
    for place, (defense, setting) in enumerate(settings):
        own = {"setup": "mnist", "defense": defense, "setting": setting}
        rows += cell(0.5, **own, attack="norm", metric="m")
        lacking += reason("for the brave", **own, attack="hint") if 0 < place < 4 else []
    assert inapplicable(pd.DataFrame([*rows, *lacking])) == ["marvell, dp epsilon=1 / hint not on mnist: for the brave"]


def test_what_does_not_apply_is_said_of_every_case():
    rows = [
        *cell(0.5, setup="mnist", defense="none", attack="completion", metric="m"),
        *cell(0.5, setup="mnist", defense="secdt", setting="a=1", attack="completion", metric="m"),
        *reason("for 2 classes", setup="mnist", attack="norm"),
        *reason("for 2 classes", setup="mnist", defense="marvell"),
    ]
    found = spread_skips(pd.DataFrame(rows)).query("skipped != ''")
    places = set(zip(found["defense"], found["setting"], found["attack"], strict=True))
    assert places == {("none", "", "norm"), ("secdt", "a=1", "norm"), ("marvell", "", "completion")}


@pytest.mark.parametrize(("leak", "verdict"), [(0.8, "fails"), (0.9, "holds"), (0.98, "fails")])
def test_a_leak_around_0_9_may_be_too_small_and_too_large(leak, verdict):
    claims = {"leaks_about_0_9": PAPERS["marvell"]["claims"]["leaks_about_0_9"]}
    own = {"setup": "criteo_faster", "defense": "none", "attack": "norm", "metric": "leak_auc_median"}
    cells = pd.DataFrame(cell(leak, **own)).assign(tested=0, chance=0.5, error=math.nan)
    found = judge("marvell", {"claims": claims}, PUBLISHED["marvell"], {"rates": cells}, Scale("paper"))
    assert found["verdict"].tolist() == [verdict]


# Drawings.


def tradeoffs(setup, attack, defenses):
    """A trade-off curve for each defense, a point for each setting: leak and utility as (value, value)."""
    rows = []
    for defense, pairs in defenses.items():
        for i, (leak, utility) in enumerate(pairs):
            own = {"setup": setup, "defense": defense, "setting": f"s={i}"}
            rows += cell(leak, **own, attack=attack, metric="attack_utility")
            rows += cell(utility, **own, metric="test_utility")
    return rows


def test_frontier_draws_every_setting_with_two_intervals_and_the_front(draw):
    defenses = {
        "none": [(0.95, 0.8)],
        "iso": [(0.9, 0.7), (0.8, 0.6), (0.7, 0.5)],
        "marvell": [(0.85, 0.72), (0.6, 0.62)],
    }
    rows = tradeoffs("criteo", "norm", defenses) + tradeoffs("criteo", "hint", defenses)
    figure = draw("frontier", rows)
    assert len(visible(figure)) == 2
    for axis in visible(figure):
        best, *lines, chance = curves(axis)
        assert [len(line.get_xdata()) for line in lines] == [1, 3, 2]
        drawn = np.concatenate([line.get_xydata() for line in lines])
        on = [not any(x <= a and y >= b and (x, y) != (a, b) for x, y in drawn) for a, b in drawn]
        np.testing.assert_array_equal(sorted(best.get_xydata().tolist()), sorted(drawn[on].tolist()))
        assert len(best.get_xdata()) == 3
        assert list(chance.get_xdata()) == [0.5, 0.5]
        assert len(axis.collections) == 2 * len(defenses)  # bars along x and along y
    assert labels_of(figure) == ["none", "iso", "marvell", "Pareto front, beyond noise"]


def test_frontier_has_a_row_for_each_setup_with_the_attacks_in_one_order(draw):
    order = {"criteo": ("norm", "direction"), "avazu": ("direction", "norm", "spectral")}
    rows = [
        one
        for setup, names in order.items()
        for name in names
        for one in tradeoffs(setup, name, {"none": [(0.9, 0.8)]})
    ]
    for options, columns in (({}, ["norm", "direction"]), ({"only": "direction, norm"}, ["direction", "norm"])):
        titles = [axis.get_title() for axis in visible(draw("frontier", rows, **options))]
        expected = [f"{setup}, {name}" for setup in order for name in columns] + ["avazu, spectral"] * (not options)
        assert [title.split(" (")[0] for title in titles] == expected


def test_frontier_draws_what_it_highlights_large_and_all_else_pale(draw):
    defenses = {"none": [(0.95, 0.8)], "iso": [(0.9, 0.7), (0.7, 0.5)], "marvell": [(0.85, 0.72), (0.6, 0.62)]}
    (axis,) = visible(draw("frontier", tradeoffs("criteo", "norm", defenses), highlight="iso"))
    none, iso, marvell = curves(axis)[1:-1]
    assert iso.get_markersize() > max(none.get_markersize(), marvell.get_markersize())
    assert iso.get_zorder() > max(none.get_zorder(), marvell.get_zorder())
    assert none.get_alpha() == marvell.get_alpha() < (iso.get_alpha() or 1)


@pytest.mark.parametrize(("axis_of_leak", "side"), [("x", 1), ("y", 0)])
def test_frontier_draws_the_utility_of_sending_nothing_as_a_line_and_shades_its_interval(draw, axis_of_leak, side):
    own = {"setup": "criteo", "defense": "send_nothing"}
    rows = tradeoffs("criteo", "norm", {"none": [(0.95, 0.8)], "iso": [(0.9, 0.75), (0.7, 0.7)]})
    rows += cell(0.5, **own, attack="norm", metric="attack_utility") + cell(0.73, **own, metric="test_utility")
    figure = draw("frontier", rows, leak_axis=axis_of_leak)
    (axis,) = visible(figure)
    (floor,) = [line for line in curves(axis) if line.get_linestyle() == "--"]
    assert floor.get_xydata()[:, side] == pytest.approx([0.73] * 2, abs=0.02)
    assert floor.get_xydata()[:, 1 - side].tolist() == [0, 1]  # of the panel, from end to end
    (shade,) = axis.patches
    low, high = shade.get_extents().transformed(axis.transData.inverted()).get_points()[:, side]
    assert low < floor.get_xydata()[0, side] < high
    assert labels_of(figure)[2] == "send nothing"
    (cross,) = labeled(axis, "_floor")  # where it leaks
    assert cross.get_xydata()[0, 1 - side] == pytest.approx(0.5, abs=0.02)


def runs(floor):
    own = {"setup": "criteo", "defense": "send_nothing"}
    rows = tradeoffs("criteo", "norm", {"none": [(0.95, 0.8)], "iso": [(0.9, 0.75)]})
    return rows + cell(0.5, **own, attack="norm", metric="attack_utility") + cell(floor, **own, metric="test_utility")


@pytest.mark.parametrize(("axis_of_leak", "side"), [("x", "y"), ("y", "x")])
def test_frontier_has_a_second_axis_for_the_share_of_the_worth(draw, axis_of_leak, side):
    (axis,) = visible(draw("frontier", runs(0.6), kept=WORTH, leak_axis=axis_of_leak))
    (second,) = axis.child_axes
    axis.figure.draw_without_rendering()
    low, high = getattr(axis, f"get_{side}lim")()
    floor, none = (mean_utility(name) for name in ("send_nothing", "none"))
    scaled = [(end - floor) / (none - floor) for end in (low, high)]
    assert getattr(second, f"get_{side}lim")() == pytest.approx(scaled)


def mean_utility(defense):
    return np.mean([row["value"] for row in runs(0.6) if (row["defense"], row["metric"]) == (defense, "test_utility")])


def test_frontier_says_where_there_is_no_worth_to_keep(draw):
    (axis,) = visible(draw("frontier", runs(0.8), kept=WORTH))
    assert not axis.child_axes
    assert [text.get_text() for text in axis.texts] == ["no worth to keep"]


@pytest.mark.parametrize(("floor", "told"), [(0.6, "1.000"), (0.8, "[1]")])
def test_a_table_has_the_share_of_the_worth_or_why_there_is_none(draw, floor, told):
    draw("table", runs(floor), kept=WORTH, rows="setup, scheme", only="test_utility, kept")
    text = (draw.folder / "table.md").read_text()
    none = next(line for line in text.splitlines() if "| none" in line)
    assert told in none.split("|")[4]
    assert ("does not apply: no worth to keep" in text) == (floor == 0.8)


def test_frontier_can_turn_the_axes_and_the_direction(draw):
    rows = tradeoffs("criteo", "norm", {"none": [(0.9, 0.4)], "iso": [(0.7, 0.5), (0.6, 0.9)], "bad": [(0.8, 0.6)]})
    (axis,) = visible(draw("frontier", rows, leak_axis="y", better="down"))
    best, *lines, chance = curves(axis)
    assert len(best.get_xdata()) == 3  # of losses the smallest: all but `bad`
    assert lines[0].get_ydata()[0] == pytest.approx(0.9, abs=0.02)
    assert list(chance.get_ydata()) == [0.5, 0.5]


def test_frontier_counts_an_auc_below_one_half_as_a_leak(draw):
    rows = tradeoffs("criteo", "norm", {"inverted": [(0.1, 0.6)], "useless": [(0.5, 0.7)]})
    (folded,), (plain,) = visible(draw("frontier", rows)), visible(draw("frontier", rows, two_sided=False, chance=0.1))
    assert [len(curves(axis)[0].get_xdata()) for axis in (folded, plain)] == [1, 2]
    assert 0.45 < folded.get_xlim()[0] <= 0.5  # where the interval of the useless one ends
    assert curves(folded)[1].get_xdata()[0] == pytest.approx(0.9, abs=0.01)


def test_frontier_says_what_does_not_apply_or_failed(draw):
    rows = tradeoffs("mnist", "completion", {"none": [(0.9, 0.9)]})
    rows += reason("defense.marvell is for 2 classes", setup="mnist", defense="marvell")
    rows += reason("failed: no memory of it", setup="mnist", defense="dp", attack="completion")
    figure = draw("frontier", rows)
    assert len(visible(figure)) == 1
    assert "marvell not on mnist: defense.marvell is for 2 classes" in words(figure)
    assert "failed: mnist / dp: no memory of it" in words(figure)


def test_curves_draw_one_line_a_scheme_and_the_chance_floor(draw):
    rows = []
    for defense, setting in (("none", ""), ("marvell_error", "error=0.1"), ("marvell_error", "error=0.4")):
        for step in (1, 50, 100):
            own = {"setup": "criteo", "defense": defense, "setting": setting, "attack": "norm"}
            rows += cell(0.8, step, "step", **own, metric="leak_auc")
            rows += cell(0.1, step, "step", **own, metric="floor")
    figure = draw("curves", rows, "step", x="step", series="scheme", floor="floor")
    (axis,) = visible(figure)
    middle, *lines = curves(axis)
    assert list(middle.get_ydata()) == [0.5, 0.5]
    assert [list(line.get_xdata()) for line in lines] == [[1, 50, 100]] * 3
    assert labels_of(figure) == ["chance floor (95%)", "none", "marvell error=0.1", "marvell error=0.4"]
    low, high = axis.get_ylim()
    assert low < 0.4 < 0.6 < high


def test_sweep_draws_attacks_and_utility_over_the_parameter(draw):
    rows = []
    for expansion in (1, 2, 4, 10):
        own = {"setup": "criteo", "defense": "secdt_expansion", "setting": f"expansion={expansion}"}
        rows += cell(0.75, **own, metric="test_utility")
        for attack in ("norm", "direction"):
            rows += cell(0.6, **own, attack=attack, metric="attack_utility")
    figure = draw("sweep", rows, parameter="expansion", chance=0.1)
    (axis,) = visible(figure)
    *lines, chance = curves(axis)
    assert [list(line.get_xdata()) for line in lines] == [[1, 2, 4, 10]] * 3
    assert list(chance.get_ydata()) == [0.1, 0.1]
    assert sorted(labels_of(figure)) == ["direction", "norm", "test utility"]


def bars_of(axis):
    return [bar for bar in axis.patches if bar.get_height() != 0]


def test_bars_are_grouped_by_parameters(draw):
    rows = []
    for expansion, noise in [(k, n) for k in (2, 5, 10) for n in (0.0, 0.3)]:
        setting = f"expansion={expansion},noise={noise}"
        own = {"setup": "criteo", "defense": "secdt_k", "setting": setting, "attack": "guess_k"}
        rows += cell(0.9 - noise, **own, metric="hit")
    figure = draw("bars", rows, group="expansion", series="noise")
    (axis,) = visible(figure)
    assert len(bars_of(axis)) == 6
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["2", "5", "10"]
    assert labels_of(figure) == ["noise = 0", "noise = 0.3"]
    heights = sorted(bar.get_height() for bar in bars_of(axis))
    np.testing.assert_allclose(heights, [0.6] * 3 + [0.9] * 3, atol=0.03)


def test_bars_say_why_one_is_missing(draw):
    rows = [row for name in ("none", "secdt") for row in cell(1.0, setup="mnist", defense=name, metric="time_ratio")]
    rows += cell(0.002, setup="mnist", defense="none", metric="seconds_per_step")
    rows += reason("defense.marvell is for 2 classes", setup="mnist", defense="marvell")
    (axis,) = visible(draw("bars", rows, metric="time_ratio", reference=1.0))
    assert len(bars_of(axis)) == 2
    assert [text.get_text() for text in axis.texts] == ["×"]
    assert "marvell not on mnist: defense.marvell is for 2 classes" in words(axis.figure)


def test_distributions_draw_both_classes_and_print_the_leak(draw):
    rows = pd.DataFrame(theory("criteo"))
    figure = draw("distributions", rows, "quantile")
    axes = visible(figure)
    assert len(axes) == 3 * 3
    assert "step 400 is not recorded" in words(figure)
    for axis in axes:
        assert "step=400" not in axis.get_title()
        positives, negatives = curves(axis)
        assert (np.diff(positives.get_xdata()) >= 0).all()
        assert list(negatives.get_ydata()) == list(marvell_measures.QUANTILES)
    leaks = rows.query("metric == 'leak_auc_of_gradient_norm' and setting == 'step=100'")["value"]
    assert f"leak AUC {leaks.mean():.3f} ± " in axes[6].get_title()
    assert labels_of(figure) == ["positives", "negatives"]


def test_a_table_joins_keys_and_two_metrics(draw):
    rows = []
    for setup in ("criteo", "mnist"):
        for defense, setting in (("secdt", ""), ("secdt_parts", "maximum_mapping")):
            own = {"setup": setup, "defense": defense, "setting": setting}
            rows += cell(0.75, **own, metric="test_utility")
            for attack in ("norm", "completion") if setup == "criteo" else ("completion",):
                rows += cell(0.5, **own, attack=attack, metric="attack_utility")
    rows += reason("attack.norm is for 2 classes", setup="mnist", attack="norm")
    options = {"rows": "setup, scheme", "columns": "attack", "pair": "test_utility", "percent": True, "digits": 0}
    draw("table", rows, **options)
    lines = (draw.folder / "table.md").read_text().splitlines()
    head, _, *body = [[part.strip() for part in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert head == ["setup", "scheme", "norm", "completion", "data"]
    assert [row[:2] for row in body] == [
        ["criteo", "secdt"], ["criteo", "secdt_parts maximum_mapping"],
        ["mnist", "secdt"], ["mnist", "secdt_parts maximum_mapping"],
    ]  # fmt: skip
    assert all(re.fullmatch(r"\d\d ± \d+ / 7\d ± \d+", row[3]) for row in body)
    assert [row[2] for row in body[2:]] == ["– [1]"] * 2
    assert "\n[1] does not apply: attack.norm is for 2 classes\n" in (draw.folder / "table.md").read_text()
    assert r"\begin{tabular}" in (draw.folder / "table.tex").read_text()


def test_a_table_leaves_out_what_the_scale_runs_in_few_setups_and_names_it(draw):
    rows = []
    for setup, defense in (("criteo", "none"), ("digits_vs_rest", "none"), ("digits_vs_rest", "mid")):
        rows += cell(0.75, setup=setup, defense=defense, metric="test_utility")
        for attack in ("norm", "similarity") if setup == "digits_vs_rest" else ("norm",):
            rows += cell(0.5, setup=setup, defense=defense, attack=attack, metric="attack_utility")
    few = [
        reason(f"{FEW}digits_vs_rest", setup="criteo", **who) for who in ({"defense": "mid"}, {"attack": "similarity"})
    ]
    options = {"rows": "setup, scheme", "columns": "attack, metric"}
    draw("table", [*rows, *few[0], *few[1], *reason("for the brave", setup="criteo", attack="hint")], **options)
    text = (draw.folder / "table.md").read_text()
    head, _, *body = [
        [part.strip() for part in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]
    assert [row[:2] for row in body] == [["criteo", "none"], ["digits_vs_rest", "none"], ["digits_vs_rest", "mid"]]
    names = ["test utility", "norm attack utility", "similarity attack utility", "hint attack utility"]
    assert sorted(head) == sorted(["setup", "scheme", *names, "data"])
    assert body[0][head.index("similarity attack utility")] == ""
    assert "[1] does not apply: for the brave" in text
    assert " at scale quick mid, similarity not on criteo" in text
    draw("table", few[0], **options)
    assert f"[1] does not apply: {FEW}digits_vs_rest" in (draw.folder / "table.md").read_text()


def test_a_table_joins_columns(draw):
    rows = [
        row
        for setup in ("criteo", "digits")
        for metric in ("mean", "floor")
        for row in cell(0.5, setup=setup, defense="none", attack="norm", metric=metric)
    ]
    draw("table", rows, rows="attack, scheme", columns="setup, metric")
    (head, *_) = [line for line in (draw.folder / "table.md").read_text().splitlines() if line.startswith("|")]
    names = [part.strip() for part in head.strip("|").split("|")]
    assert names == ["attack", "scheme", "criteo mean", "criteo floor", "digits mean", "digits floor"]


@pytest.mark.parametrize(("paper", "name"), EXHIBITS)
def test_an_exhibit_can_be_drawn_and_nothing_is_cut_off(draw, paper, name):
    exhibit = plan("quick").papers[paper]["exhibits"][name]
    options = {key: value for key, value in exhibit["draw"].items() if key != "use"}
    rows = made_up("quick", paper, name)
    assert cut_off(draw(exhibit["draw"]["use"], rows, exhibit["along"], **options)) == []


TABLE = {"rows": "scheme", "columns": "metric"}
STARTS = {".png": b"\x89PNG", ".pdf": b"%PDF", ".md": b"**A title", ".tex": b"\\begin"}


@pytest.mark.parametrize(("use", "options", "kinds"), [("frontier", {}, [".png", ".pdf"]), ("table", TABLE, [*STARTS])])
def test_equal_cells_give_equal_files(draw, use, options, kinds):
    rows = tradeoffs("criteo", "norm", {"none": [(0.9, 0.8)], "iso": [(0.7, 0.7)]})
    draw.kinds = ("png", "pdf", "md", "tex")
    draw(use, rows, **options)
    first = {file: file.read_bytes() for file in draw.folder.iterdir()}
    assert {file.suffix for file in first} == {*kinds}
    assert all(text.startswith(STARTS[file.suffix]) for file, text in first.items())
    draw(use, rows, **options)
    assert first == {file: file.read_bytes() for file in draw.folder.iterdir()}
