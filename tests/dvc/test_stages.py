"""The stages of dvc.yaml: they run what a change concerns only, and keep what people look at, not what lies between."""

from __future__ import annotations

import csv
import json
import statistics
from pathlib import Path

import pytest
import yaml

from tests.params import params, read

from ..workflow.conftest import copy, prune
from .conftest import ROOT, Repository, jobs_between, stages, track

STAGES = read(ROOT / "dvc.yaml")["stages"]
PAPERS = params()["papers"]


def paths(stage: str) -> list[str]:
    """What a stage writes."""
    entries = STAGES[stage].get("outs", []) + STAGES[stage].get("metrics", [])
    return [path for entry in entries for path in entry]


def test_a_paper_alone_is_made_from_nothing_and_then_never_again(tmp_path: Path) -> None:
    here = Repository(prune(copy(tmp_path / "project")).folder, mirror="")
    track(here)
    here.replace("params.yaml", f"papers: [{', '.join(PAPERS)}]", "papers: [secdt]")
    assert stages(here.dvc("repro")) == dict.fromkeys(STAGES, True)
    assert all((here.folder / path).exists() for stage in STAGES for path in paths(stage))
    assert stages(here.dvc("repro")) == dict.fromkeys(STAGES, False)
    assert here.up_to_date()


def test_repro_after_snakemake_makes_nothing_again(recorded: Repository) -> None:
    """What the first one ran, the fixture has seen; the second one runs no stage."""
    before = recorded.times()
    assert stages(recorded.dvc("repro")) == dict.fromkeys(STAGES, False)
    assert recorded.times() == before


def test_the_lock_has_checksums_and_no_runs_are_kept(recorded: Repository) -> None:
    lock = (recorded.folder / "dvc.lock").read_text()
    for stage in yaml.safe_load(lock)["stages"].values():
        assert {*stage["params"]["params.yaml"]} == {"scale", "papers"}
        assert not [out["path"] for out in stage["outs"] if out["path"].startswith(("results/runs", "results/scores"))]
    assert len(lock) < 6000
    kept = {file.read_bytes() for file in (recorded.folder / ".dvc/cache").rglob("*") if file.is_file()}
    transcript, *_ = (recorded.folder / "results/runs").rglob("*.transcript.safetensors")
    assert transcript.read_bytes() not in kept
    assert (recorded.folder / "results/claims.csv").read_bytes() in kept


def attacks_on_runs_with(attack: str, folder: Path) -> set[str]:
    """The logs of all attacks, one job at this scale, on runs on which there is this one, too."""
    runs = {file.parent for file in (folder / "results/scores").rglob(f"{attack}.csv")}
    return {f"attack/{run.relative_to(folder / 'results/scores')}/shared-attacks.log" for run in runs}


def test_an_edited_attack_and_a_changed_variant_run_what_depends_on_them(changed: Repository) -> None:
    """By `dvc exp run`, which edits params.yaml and then is `dvc repro`."""
    before = changed.times()
    was = yaml.safe_load((changed.folder / "params.yaml").read_text())
    attack = "workflow/cutlayer/games/split/attacks/model_completion.py"
    (changed.folder / attack).write_text((changed.folder / attack).read_text() + "\nEDITED = 1\n")
    assert stages(changed.dvc("exp", "run", "--set-param", "attacks.gia.steps=40")) == dict.fromkeys(STAGES, True)

    again = jobs_between(before, changed.times())
    first = {log for log in again if log.startswith("attack/")}
    edited = attacks_on_runs_with("model_completion", changed.folder)
    assert edited
    other = attacks_on_runs_with("gia", changed.folder)
    assert not edited & other
    assert first == edited | other
    follow = ("chebyshev/comparison", "secdt/figure4", "arena/labels", "arena/vulnerable")
    assert {log for log in again - first if log.startswith("cells/")} == {f"cells/{name}.log" for name in follow}
    assert {log.split("/")[0] for log in again} <= {"attack", "cells", "exhibits", "ledger.log", "site.log"}
    assert changed.up_to_date()

    text = (changed.folder / "params.yaml").read_text()
    was["attacks"]["gia"]["steps"] = 40
    assert yaml.safe_load(text) == was
    assert "# A variant: a method and its parameters" in text
    assert set(changed.git("diff", "--name-only").split()) <= {attack, "params.yaml", "dvc.lock"}


def test_metrics_are_a_dozen_numbers_with_the_provenance_of_their_data(tracked: Repository) -> None:
    (shown,) = json.loads(tracked.call("dvc", "metrics", "show", "--json").stdout).values()
    metrics = shown["data"]["results/metrics.json"]["data"]
    assert {name.partition(" (")[0] for name in metrics} == {*PAPERS}
    assert all(values.keys() == {"utility", "leak"} for values in metrics.values())
    with (tracked.folder / "results/exhibits/chebyshev/figure9.csv").open() as table:
        rows = [row for row in csv.DictReader(table) if (row["defense"], row["attack"]) == ("pps", "rcc1")]
    leak = metrics[f"chebyshev ({rows[0]['provenance']})"]["leak"]
    assert leak == pytest.approx(statistics.fmean(float(row["mean"]) for row in rows), rel=1e-6)


def test_the_difference_of_metrics_to_a_commit(changed: Repository) -> None:
    file = changed.folder / "results/metrics.json"
    before = json.loads(file.read_text())
    ((name, values),) = before.items()
    file.write_text(json.dumps({name: values | {"leak": values["leak"] + 1}}))
    found = json.loads(changed.dvc("metrics", "diff", "HEAD", "--json"))["results/metrics.json"]
    assert {key: (of["old"], of["new"]) for key, of in found.items()} == {
        f"{name}.leak": (values["leak"], values["leak"] + 1)
    }


def test_plots_show_pictures_and_curves(tracked: Repository) -> None:
    tracked.dvc("plots", "show")
    page = (tracked.folder / "dvc_plots/index.html").read_text()
    pictures = {file.name for file in (tracked.folder / "dvc_plots/static").glob("*.png")}
    assert len(pictures) >= 5
    assert all(f"static/{name}" in page for name in pictures)
    assert '"predictions"' in page  # the data behind figure 7, which vega draws
    assert not tracked.git("status", "--porcelain")
