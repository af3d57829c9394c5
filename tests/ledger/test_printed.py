"""The paper's printed numbers and the cells that they are held against are the same in ledger and exhibits."""

from __future__ import annotations

import functools
from pathlib import Path

import pandas as pd
import pytest
from tests.params import params

from cutlayer.ledger import cells as ledger_cells
from cutlayer.ledger.cells import NO_SEED, WHO, summarize
from cutlayer.ledger.claims import Scale, judge
from cutlayer.ledger.printed import numbers, published_cells, read
from cutlayer.plan.plan import Plan
from cutlayer.stages.drawing import compared, draw

PROJECT = Path(__file__).parents[2]
PAPERS = PROJECT / "workflow/papers"
CONFIG = params()


ATTACKS = ("norm", "direction", "spectral", "model_completion")
OTHERS = {"completion_official": "model_completion", "spectral_embeddings": "spectral"}  # a number stands beside both


@functools.cache
def plan():
    return Plan(CONFIG)


def row(value, seed=0, provenance="real", **who):
    common = dict.fromkeys(WHO, "") | {"provenance": provenance, "features": 8, "all": 0, "n": 0, "cases": 1}
    return common | who | {"seed": seed, "value": value, "skipped": ""}


PARTS = {"": "", "_parts": "maximum_mapping"}  # of secdt, with its setting


def exhibit(*rows):
    return pd.DataFrame(rows)[[*WHO, "all", "seed", "value", "n", "cases", "skipped"]].assign(scale="quick")


def secdt_rows(provenance="real"):
    own_data = {"setup": "criteo", "dataset": "criteo", "provenance": provenance}
    rows = []
    for defense, setting in [(f"{name}{part}", own) for name in ("secdt", "secdt_raw") for part, own in PARTS.items()]:
        for seed in range(3):
            who = own_data | {"defense": defense, "setting": setting}
            rows.append(row(0.7 + seed / 100, seed, **who, metric="test_utility"))
            for attack in (*ATTACKS, *OTHERS):
                rows.append(row(0.5 + seed / 100, seed, **who, attack=attack, metric="attack_utility"))
    return rows


def test_decimals_are_those_that_the_paper_prints():
    published = read(PAPERS / "marvell/published.csv").set_index("method")
    assert published.loc["marvell_sumkl_0.1", "value"] == 1.8
    assert published.loc["marvell_sumkl_0.1", "decimals"] == 2


def test_an_exhibit_has_the_numbers_that_the_ledger_judges_by():
    content = plan().papers["secdt"]
    published, cells = read(PAPERS / "secdt/published.csv"), exhibit(*secdt_rows())
    entries = plan().plot_options("secdt", "table1")["numbers"]
    assert {entry["check"]["exhibit"] for entry in entries} == {"table1"}
    found = published_cells(summarize(cells, "secdt", "table1"), entries, published)
    judged = judge("secdt", {"claims": {}, "numbers": entries}, published, {"table1": cells}, Scale("paper"))
    judged = judged[judged["setup"] == "criteo"]
    for other, attack in OTHERS.items():
        beside = found.loc[found["attack"] == other, "published"]
        assert list(beside) == list(found.loc[found["attack"] == attack, "published"]) != []
    found = found[~found["attack"].isin([*OTHERS])]
    for reading in ("secdt", "secdt_raw"):  # the noise's softmax, and itself: the printed numbers stand beside both
        own = found[found["defense"].isin([f"{reading}{part}" for part in PARTS])]
        assert sorted(own["published"]) == pytest.approx(sorted(judged["published"]))
        assert len(own) == 2 * len(ATTACKS) * 2  # defenses, attacks, leak and utility
    assert len(list(numbers(content["numbers"], published))) == len(published)


def test_a_number_of_any_setting_has_none():
    rows = [
        row(
            0.6, 0, setup="adult_sex", dataset="adult", defense="tcpo", setting=f"threshold={t}", metric="test_accuracy"
        )
        for t in (0.001, 0.003)
    ]
    entries = plan().plot_options("tcpo", "figure4_tabular")["numbers"]
    found = published_cells(summarize(exhibit(*rows), "tcpo", "f"), entries, read(PAPERS / "tcpo/published.csv"))
    assert found["setting"].isna().all()
    assert set(found["defense"]) == {"tcpo"}


@pytest.mark.parametrize(("provenance", "differs"), [("real", True), ("stand-in", False)])
def test_the_csv_has_the_papers_number_and_the_difference(provenance, differs):
    table = summarize(exhibit(*secdt_rows(provenance)), "secdt", "table1").drop(columns="each")
    entries = plan().plot_options("secdt", "table1")["numbers"]
    found = compared(table, published_cells(table, entries, read(PAPERS / "secdt/published.csv")))
    norm = found[(found["attack"] == "norm") & (found["defense"] == "secdt")].iloc[0]
    assert norm["published"] == pytest.approx(0.5234)
    assert norm["difference"] == pytest.approx(0.51 - 0.5234 if differs else float("nan"), nan_ok=True)
    utility = found[(found["attack"] == "") & (found["defense"] == "secdt")]
    assert sorted(utility["target"]) == ["direction", "model_completion", "norm", "spectral"]


def test_what_the_paper_does_not_print_has_no_more_columns():
    table = summarize(exhibit(*secdt_rows()), "secdt", "attacks").drop(columns="each")
    assert list(compared(table, published_cells(table, [], pd.DataFrame())).columns) == list(table.columns)


def test_a_drawn_exhibit_is_the_same_twice(tmp_path):
    ledger_cells.write(exhibit(*secdt_rows()), tmp_path / "cells.csv")
    own = plan().papers["secdt"]["exhibits"]["table1"]
    inputs = {"cells": tmp_path / "cells.csv", "published": PAPERS / "secdt/published.csv"}
    kinds = ("csv", "md", "tex", "png", "pdf")
    written = []
    for time in range(2):
        files = {kind: tmp_path / f"{time}.{kind}" for kind in kinds}
        draw(("secdt", "table1"), own, plan().plot_options("secdt", "table1"), inputs, files)
        written.append([files[kind].read_bytes() for kind in kinds])
    assert written[0] == written[1]
    assert "paper 52.34 / 76.95" in written[0][1].decode()
    assert not {"each", "values"} & set(pd.read_csv(tmp_path / "0.csv").columns)


def test_an_exhibit_shows_no_metric_that_it_had_once(tmp_path):
    own = plan().papers["secdt"]["exhibits"]["table1"]
    files = {kind: tmp_path / f"drawn.{kind}" for kind in ("csv", "md", "tex", "png", "pdf")}
    inputs = {"cells": tmp_path / "cells.csv", "published": PAPERS / "secdt/published.csv"}
    rows = [*secdt_rows(), row(0.5, setup="criteo", dataset="criteo", defense="none", metric="of_old")]
    ledger_cells.write(exhibit(*rows), inputs["cells"])
    draw(("secdt", "table1"), own, plan().plot_options("secdt", "table1"), inputs, files)
    assert {*pd.read_csv(files["csv"])["metric"]} <= {*own["metrics"]}


def test_facts_have_no_seeds():
    table = summarize(exhibit(row(2.0, NO_SEED, setup="bank", dataset="bank", metric="classes")), "p", "e")
    assert table["each"].tolist() == [{}]
