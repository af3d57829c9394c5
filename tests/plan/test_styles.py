"""One method, one color and marker: from its name, the same everywhere, to be told apart by everyone."""

from __future__ import annotations

import itertools
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from tests.params import params

from cutlayer.exhibits._figure import series_styles
from cutlayer.exhibits.base import PlotContext
from cutlayer.plan import plugins
from cutlayer.plan import styles as module
from cutlayer.plan.plan import Plan
from cutlayer.plan.styles import BLACK, COLORS, MARKERS, by_place, styles

CONFIG = params()
SHIPPED = {
    kind: {name: {"use": own["use"]} for name, own in CONFIG[f"{kind}s"].items()} for kind in ("defense", "attack")
}
# Colors as people without one kind of cone see them, of linear RGB (Machado, Oliveira, Fernandes 2009, severity 1).
SIGHTS = {
    "all cones": np.eye(3),
    "no long": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no medium": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no short": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}  # fmt: skip


def lightness(color, sight):
    """CIELAB of a color as it is seen."""
    rgb = np.array(to_rgb(color))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.array(SIGHTS[sight]) @ linear, 0, 1)
    to_xyz = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                       [0.0193339, 0.1191920, 0.9503041]])  # fmt: skip
    xyz = to_xyz @ seen / np.array([0.95047, 1, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("sight", SIGHTS)
def test_colors_are_told_apart_by_all_eyes(sight):
    places = [lightness(color, sight) for color in (*COLORS, BLACK["color"])]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(places, 2)) > 10  # 2.3 can just be seen


@pytest.mark.parametrize("kind", SHIPPED)
@pytest.mark.parametrize("game", ["vertical", "split", "split_server", "federated"])
def test_methods_that_meet_have_different_styles_and_different_colors_while_there_are_some(kind, game):
    given = styles(kind, SHIPPED[kind])
    meet = {name: style for name, style in given.items() if game in plugins.games(kind, SHIPPED[kind][name]["use"])}
    assert len({(style["color"], style["marker"]) for style in meet.values()}) == len(meet)
    methods = {SHIPPED[kind][name]["use"] for name in meet} - {"none"}
    used = {style["color"] for style in meet.values()} - {BLACK["color"]}
    assert len(used) == min(len(methods), len(COLORS))


@pytest.mark.parametrize("kind", SHIPPED)
def test_variants_of_a_method_share_its_color_and_differ_in_marker(kind):
    given = styles(kind, SHIPPED[kind])
    for method in {own["use"] for own in SHIPPED[kind].values()}:
        own = [given[name] for name, variant in SHIPPED[kind].items() if variant["use"] == method]
        assert len({style["color"] for style in own}) == 1
        assert len({style["marker"] for style in own}) == len(own)


@contextmanager
def one_game():
    """Methods that are in no file meet in one game."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.plugins, "games", lambda *_: {"split"})
        yield


names = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=12)


@settings(deadline=None)
@given(st.lists(names.filter(lambda name: name != "none"), unique=True, min_size=1, max_size=len(COLORS)))
def test_a_new_method_gets_a_free_color_and_changes_no_other(methods):
    with one_game():
        before = styles("defense", {name: {"use": name} for name in methods[:-1]})
        after = styles("defense", {name: {"use": name} for name in methods})
    assert {name: after[name] for name in before} == before
    assert after[methods[-1]]["color"] not in {style["color"] for style in before.values()}


def test_more_methods_than_colors_differ_in_marker():
    many = {f"method_{place}": {"use": f"method_{place}"} for place in range(len(COLORS) * len(MARKERS))}
    with one_game():
        found = styles("defense", many)
    assert len({(style["color"], style["marker"]) for style in found.values()}) == len(many)


def test_a_style_is_the_same_in_the_exhibits_of_all_papers():
    plan, seen = Plan(CONFIG), {}
    for paper, name, _ in plan.exhibits():
        for kind, own in plan.plot_options(paper, name)["styles"].items():
            for variant, style in own.items():
                assert seen.setdefault((kind, variant), style) == style
    uses = {name: variant["use"] for name, variant in plan.defenses.items()}
    marvell = [style["color"] for (_, name), style in seen.items() if uses.get(name) == "marvell"]
    assert len(marvell) == 4
    assert len(set(marvell)) == 1


def test_settings_of_one_defense_are_ever_paler():
    cells = pd.DataFrame({"defense": "iso", "attack": "", "series_": ["iso r=1", "iso r=2", "iso r=4"]})
    style = {"color": "#332288", "marker": "o", "linestyle": "-"}
    found = series_styles(cells, "scheme", "series_", PlotContext(styles={"defense": {"iso": style}}))
    assert found["iso r=1"]["color"] == "#332288"
    light = [sum(to_rgb(own["color"])) for own in found.values()]
    assert sorted(light) == light
    assert len(set(light)) == 3


def test_what_is_no_method_has_a_style_by_its_place():
    every = [by_place(place) for place in range(3 * len(COLORS))]
    assert len({(style["color"], style["marker"], str(style["linestyle"])) for style in every}) == len(every)
