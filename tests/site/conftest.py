"""A site of made-up results: two papers, every verdict, tables, trade-offs, readings and errata."""

from __future__ import annotations

import contextlib
import itertools
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cutlayer.core.artifacts import write_json
from cutlayer.ledger import cells, files, overview
from cutlayer.ledger.cells import WHO
from cutlayer.ledger.claims import Scale
from cutlayer.plan.styles import BLACK, by_place
from cutlayer.site import build, documents, front, order
from cutlayer.site.inputs import Inputs, claims
from cutlayer.stages import drawing
from tests.conftest import lock, shared_folder

ROOT = Path(__file__).parents[2]
SETUPS = {"bank": "bank", "wine_half": "wine", "robot": "robot"}
PROVENANCE = {"bank": "real", "wine": "real", "robot": "stand-in"}
STYLES = {"none": BLACK, "marvell": by_place(1), "iso": by_place(2)}
NOT_ASKED = {
    "numbers": [],
    "styles": {"defense": STYLES, "attack": {}},
    "values": {},
    "scales": ["quick"],
    "knowing": [],
}
WORD = "W" * 60  # no line of a phone has room for it


def check(defense: str, exhibit: str = "figure1", **more: object) -> dict:
    left = {"defense": defense, "attack": "norm", "metric": "leak_auc_mean"}
    return {"exhibit": exhibit, "statistic": "value", "left": left} | more


CLAIMS = {
    "leaks": {"text": "Without a defense labels leak.", "place": "Abstract", "check": check("none", at_least=0.8)},
    "stops": {"text": "Marvell stops it.", "place": "Section 5.3, figure 1", "check": check("marvell", at_most=0.6)},
    "fails": {
        "text": f"Iso stops {WORD}.",
        "place": "Section 5",
        "check": check("iso", at_most=0.6),
        "why": "erratum 1",
    },
    "open": {"text": "Iso leaks little.", "place": "Section 6", "check": check("iso", at_most=0.7), "datasets": []},
}
NUMBER = {
    "published": {"item": "table1"}, "statement": "test AUC of none", "why": "", "depends_on_scale": False,
    "check": {"exhibit": "table1", "statistic": "value", "left": {"defense": "none", "metric": "test_auc"}},
}  # fmt: skip
READING = {
    "open": "Whether scores are rounded.", "place": "section 3", "chosen": "raw", "why": "As printed.",
    "alternatives": {"rounded": "to two digits", "raw": "all digits"},
    "measured": "docs/readings/tcpo.md",
}  # fmt: skip
ERRATA = {
    "1": {"text": "A sign is reversed & <wrong>.", "check": "test_errata.py::test_scheme2_as_printed_ties"},
    "2": {"text": "It normalizes on all rows.", "check": "exhibit table1"},
}
FRONT = {"use": "frontier", "leak": "leak_auc_mean", "utility": "test_auc"}
EXHIBITS = {
    "figure1": {"title": "Utility against leak", "caption": f"Figure 1 | {WORD}.", "draw": FRONT},
    "table1": {"title": "Test AUC", "caption": "Table 1.", "draw": {"use": "table", "rows": "setup, scheme"}},
}
PAPER = {
    "title": "A paper", "authors": "Someone", "datasets": ["bank", "robot"], "exhibits": EXHIBITS, "claims": CLAIMS,
    "numbers": [NUMBER], "readings": {"digits": READING}, "errata": ERRATA,
    "headline": {"leak": {"text": "leak under marvell", "check": check("marvell", setups=["bank"])}},
    "main": [{"text": "Labels leak, and marvell stops it.", "claims": ["leaks", "stops"]},
             {"text": "Iso stops it.", "claims": ["fails"]}],
}  # fmt: skip
PLAIN = {key: PAPER[key] for key in ("title", "authors", "datasets", "exhibits", "claims")} | {"numbers": []}
PAPERS = {"marvell": PAPER, "arena": PLAIN}
PUBLISHED = pd.DataFrame(
    [("table1", "all", "none", "none", "test_auc", 0.9)],
    columns=["item", "dataset", "target", "method", "metric", "value"],
)


MEASURED = [  # defense, setting, leak
    ("none", "", 0.95), ("marvell", "sum_kl=0.1", 0.52), ("marvell", "sum_kl=0.2", 0.54), ("iso", "ratio=1.0", 0.7),
]  # fmt: skip


def table() -> pd.DataFrame:
    """What was measured: three seeds of three defenses in three setups, an attack on each."""
    rng, rows = np.random.default_rng(0), []
    for (setup, dataset), (defense, setting, leak) in itertools.product(SETUPS.items(), MEASURED):
        run = dict.fromkeys(WHO, "") | {"setup": setup, "dataset": dataset, "provenance": PROVENANCE[dataset]}
        run |= {"features": 13, "defense": defense, "setting": setting, "chance": 0.5, "tested": 400}
        for seed in range(3):
            noise = rng.normal(scale=0.01, size=2)
            rows.append(run | {"attack": "norm", "metric": "leak_auc_mean", "seed": seed, "value": leak + noise[0]})
            rows.append(run | {"metric": "test_auc", "seed": seed, "value": 0.9 + noise[1]})
    made = pd.DataFrame(rows).assign(all=0, n=10, cases=1, skipped="", error=0.001)
    return made[[*WHO, "all", "seed", "value", "n", "cases", "skipped", "tested", "chance", "error"]]


def facts(name: str) -> dict[str, object]:
    known = {"name": name, "provenance": PROVENANCE[name], "rows": 1234, "features": 13, "classes": 2, "note": WORD}
    return known | {"licence": "CC BY 4.0", "version": "full", "where": "raw", "files": {f"{WORD}.csv": "0" * 64}}


def write(folder: Path) -> None:
    """Write the site, and the results that it is of."""
    results, normalised = folder / "results", folder / "normalised"
    published = folder / "published.csv"
    normalised.mkdir(parents=True)
    PUBLISHED.to_csv(published, index=False)
    tables = []
    for paper in PAPERS:
        for name, exhibit in EXHIBITS.items():
            tables.append(results / "cells" / paper / f"{name}.csv")
            own = table()
            kept = own[own["metric"] == "test_auc"] if name == "table1" else own
            cells.write(kept.assign(scale="quick"), tables[-1])
            made = {
                kind: results / "exhibits" / paper / f"{name}.{kind}" for kind in ("csv", "png", "pdf", "md", "tex")
            }
            drawing.draw((paper, name), exhibit, NOT_ASKED, {"cells": tables[-1]}, made)
    ledger = {"claims": results / "claims.csv", "csv": results / "ledger.csv", "md": results / "ledger.md"}
    sizes = [Scale("quick", {"setup": {"bank": {"bank": "rows"}}})]
    files.write(PAPERS, [published] * len(PAPERS), tables, sizes, ledger)
    for name in PROVENANCE:
        write_json(normalised / f"{name}.json", facts(name))
    with contextlib.chdir(ROOT):
        build.write(sources(folder), folder / "site")


def sources(folder: Path) -> Inputs:
    """What the site is made of, once the results are there; the working directory is the project's."""
    return Inputs(
        papers=PAPERS, styles=STYLES, scales=["quick"],
        datasets=[*PROVENANCE], results=folder / "results", normalised=folder / "normalised",
        sources=Path("data/sources.csv"),
        documents=order.texts(), pictures=order.pictures(),
        code=dict.fromkeys(PAPERS, "of now"), api=True, variants={"setup": dict.fromkeys(SETUPS, "split")},
    )  # fmt: skip


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the made-up results, ledger and site; made once."""
    place = shared_folder(tmp_path_factory) / "made-up"
    place.mkdir(exist_ok=True)
    with lock(place / "lock"):
        if not (place / "done").exists():
            write(place)
            (place / "done").touch()
    return place


@pytest.fixture(scope="session")
def site(made: Path) -> Path:
    return made / "site"


@pytest.fixture
def first(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first page of a site that has the picture of the finding."""
    monkeypatch.chdir(ROOT)
    paper, name = front.PICTURE
    content = PLAIN | {"exhibits": EXHIBITS | {name: EXHIBITS["figure1"]}}
    given = replace(sources(made), papers=PAPERS | {paper: content}, finding=documents.finding("README.md"))
    table = claims(given)
    page = front.page(given, table, [*overview.papers(table, given.papers, given.scales)])
    build._writer(given, tmp_path)("index.html", "index", **page)
    shutil.copytree(build.ASSETS, tmp_path / "assets")
    shutil.copytree(made / "site/exhibits", tmp_path / "exhibits")
    shutil.copy(f"docs/{name}.png", tmp_path / f"exhibits/{paper}")
    return tmp_path / "index.html"
