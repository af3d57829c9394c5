"""Pages of methods and boards of games: every method on disk, each leak once, ranked by the strongest attack."""

from __future__ import annotations

import contextlib
import itertools
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from cutlayer.metrics.declared import METRICS, SHOWN
from cutlayer.plan import plugins
from cutlayer.site import methods

from .conftest import MEASURED, PAPERS, ROOT, SETUPS, sources

Pages = dict[str, dict]


@pytest.fixture(scope="module")
def pages(made: Path) -> Pages:
    """What each page is made of."""
    found: Pages = {}
    with contextlib.chdir(ROOT):
        methods.write(sources(made), lambda place, template, **content: found.update({place: content}))
    return found


def test_each_method_on_disk_has_a_page_that_names_its_file_and_says_what_it_does(pages: Pages, site: Path) -> None:
    for game, kind in itertools.product(methods.GAMES, methods.KINDS):
        for name in plugins.names(kind, game):
            place = methods.place(game, kind, name)
            one = pages[place]["method"]
            assert (ROOT / one["file"]).is_file()
            assert one["first"]
            assert f"<h1>{name}</h1>" in (site / place).read_text()


def test_a_board_has_each_leak_once_with_what_the_adversary_sees(pages: Pages) -> None:
    rows = pages["methods/split/index.html"]["rows"]
    assert len(rows) == len(SETUPS) * len(MEASURED)
    assert all(set(row["sees"]) == plugins.method("attack", "norm").constants["sees"] for row in rows)
    assert all(row["utility"] and row["undefended"] for row in rows)
    assert not pages["methods/vertical/index.html"]["rows"]
    assert {row["paper"] for row in rows} <= set(PAPERS)


def test_ranks_follow_the_strongest_attack(pages: Pages) -> None:
    rows = pages["methods/split/index.html"]["rows"]
    for setup in SETUPS:
        own = [row for row in rows if row["setup"] == setup]
        assert all(row["strongest"] for row in own), "each run met one attack"
        in_order = sorted(own, key=lambda row: row["rank"])
        assert [row["mean"] for row in in_order] == sorted(row["mean"] for row in own)
        assert in_order[-1]["defense"] == "none"


@pytest.mark.parametrize("metric", SHOWN["leak"])
def test_the_strongest_of_several_attacks_is_the_one_that_leaks_most(metric: str) -> None:
    run = {"data": "Bank", "setup": "bank", "metric": metric, "defense": "iso", "setting": ""}
    ranked = methods._ranked([run | {"attack": f"a{mean}", "mean": mean} for mean in (0.6, 0.9, 0.7)])
    most = max if METRICS[metric].better == "down" else min
    assert [row["mean"] for row in ranked if row["strongest"]] == [most(0.6, 0.9, 0.7)]
    assert {row["met"] for row in ranked} == {3}


def test_runs_that_leak_alike_share_a_rank() -> None:
    run = {"data": "Bank", "setup": "bank", "metric": "leak_auc_mean", "defense": "iso", "attack": "norm"}
    ranked = methods._ranked(
        [run | {"setting": f"ratio={n}", "mean": mean} for n, mean in enumerate((0.7, 0.6, 0.7, 0.9))]
    )
    assert {row["setting"]: row["rank"] for row in ranked} == {"ratio=1": 1, "ratio=0": 2, "ratio=2": 2, "ratio=3": 4}


def test_a_board_links_each_defense_to_its_page(site: Path) -> None:
    page = (site / "methods/split/index.html").read_text()
    assert re.search(r'href="../../methods/split/defense_marvell.html">marvell</a> *<small>sum_<wbr>kl=0.1', page)


def test_a_method_that_the_reference_does_not_have_has_your_runs_numbers_marked_so() -> None:
    def row(defense: str, attack: str) -> dict:
        place = {"data": "Bank", "setup": "bank", "metric": "leak_auc_mean", "game": "split", "own": False}
        return place | {"file": defense, "attack_files": [attack]}

    reference, yours = [row("iso", "norm")], [row("iso", "norm"), row("mid", "norm"), row("iso", "hint")]
    rows, times = methods._with_own((reference, []), (yours, []))
    assert [(row["file"], *row["attack_files"], row["own"]) for row in rows] == [
        ("iso", "norm", False), ("mid", "norm", True), ("iso", "hint", True),
    ]  # fmt: skip
    assert times == []


def test_beside_a_leak_are_that_to_the_papers_own_attacks_and_what_surely_leaks_of_coins(tmp_path: Path) -> None:
    def row(setup: str, attack: str, metric: str, mean: float) -> dict:
        return {"setup": setup, "dataset": "bank", "defense": "iso", "setting": "", "attack": attack, "metric": metric,
                "mean": mean, "low": "", "high": ""}  # fmt: skip

    own = row("bank", "attacks_of_the_papers", "leak_auc_mean", 0.7)
    tables = {
        "labels": [row("bank", "any_attack", "leak_auc_mean", 0.9), own],
        "bounds": [row("bank_coins", "any_attack", "auc_measured", 0.8)],
        "bounds_of_one_release": [row("bank_pairs", "any_attack", "auc_measured", 0.6)],
    }
    (tmp_path / "exhibits/arena").mkdir(parents=True)
    for name, rows in tables.items():
        pd.DataFrame(rows).to_csv(tmp_path / f"exhibits/arena/{name}.csv", index=False)
    given = replace(sources(tmp_path), results=tmp_path, papers={"arena": {"exhibits": tables}})
    found, _ = methods._measured(given, {"setup": {"bank": "split"}}, "")
    shown = {row["attack"]: (row["reported"], row["surely"]) for row in found}
    assert shown == {"any_attack": ("0.7", "0.8"), "attacks_of_the_papers": ("", "0.8")}
