"""The figure of bounds: from what surely leaks to what is guaranteed, in words that need no caption."""

from __future__ import annotations

import pandas as pd
import pytest
from matplotlib.colors import to_hex, to_rgb

from cutlayer.exhibits.base import PlotContext
from cutlayer.exhibits.between import Between

SCHEMES = {  # defense -> what was measured, the attack's mean, the bound, whether it is refuted, what is written
    "none": (0.97, 0.99, None, 0, "no bound"),
    "broken": (0.9, 0.95, 0.7, 1, "refuted"),
    "lucky": (0.72, 0.75, 0.7, 0, "above alone"),
    "tight": (0.69, 0.71, 0.7, 0, "attained"),
    "loose": (0.5, 0.49, 0.58, 0, "open: 0.08"),
}


def table():
    """Summarized cells of one setup."""
    who = {"setup": "made", "dataset": "made", "provenance": "real", "scale": "quick", "setting": "", "skipped": ""}
    who |= {"n": 0, "cases": 1, "seeds": 3, "features": 8}
    rows = []
    for defense, (least, leak, bound, refuted, _) in SCHEMES.items():
        found = [("any_attack", "auc_measured", least), ("any_attack", "coin_auc", leak)]
        found += [] if bound is None else [("any_attack", "refuted", refuted), ("", "promise", bound)]
        rows += [who | {"defense": defense, "attack": a, "metric": m, "mean": v} for a, m, v in found]
    return pd.DataFrame(rows)


@pytest.fixture
def axis(tmp_path, monkeypatch):
    """The panel that is drawn."""
    kept = []
    monkeypatch.setattr("matplotlib.pyplot.close", kept.append)
    Between().draw(table(), "arena bounds", {"png": tmp_path / "bounds.png"}, PlotContext())
    return kept[0].axes[0]


def test_each_scheme_has_its_interval_and_a_word(axis):
    assert [text.get_text() for text in axis.texts] == [f"made: {words}" for *_, words in SCHEMES.values()]
    for bar, (least, _, bound, *_) in zip(axis.patches, SCHEMES.values(), strict=True):
        ends = sorted([bar.get_x(), bar.get_x() + bar.get_width()])
        assert ends == pytest.approx(sorted([least, 1.0 if bound is None else bound]))


def test_a_refuted_bound_differs_without_color(axis):
    """It is black and its word is bold; all colors are greys."""
    assert [to_hex(bar.get_facecolor()) == "#000000" for bar in axis.patches] == [bool(s[3]) for s in SCHEMES.values()]
    assert [text.get_fontweight() == "bold" for text in axis.texts] == [bool(s[3]) for s in SCHEMES.values()]
    for line in axis.lines:
        assert len(set(to_rgb(line.get_color()))) == 1


def test_chance_and_every_label_are_named_and_an_attack_below_chance_is_drawn_at_it(axis):
    assert {"0.5\nchance", "1\nevery label"} <= {tick.get_text() for tick in axis.get_xticklabels()}
    assert axis.get_yticklabels()[0].get_text() == "no defense"
    dots = [float(line.get_xdata()[0]) for line in axis.lines if line.get_label() == "_attack"]
    assert dots == [max(0.5, leak) for _, leak, *_ in SCHEMES.values()]


@pytest.mark.parametrize(
    ("asked", "drawn"), [("", ["a", "b", "c"]), ("a, c", ["a", "c"]), ("elsewhere", ["a", "b", "c"])]
)
def test_setups_that_are_asked_for_are_drawn_where_they_were_run(tmp_path, monkeypatch, asked, drawn):
    kept = []
    monkeypatch.setattr("matplotlib.pyplot.close", kept.append)
    cells = pd.concat([table().assign(setup=name, dataset=name) for name in "abc"])
    Between(setups=asked).draw(cells, "arena bounds", {"png": tmp_path / "bounds.png"}, PlotContext())
    texts = [text.get_text().split(":")[0] for text in kept[0].axes[0].texts]
    assert texts == drawn * len(SCHEMES)
