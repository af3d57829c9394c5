"""The stages of dvc.yaml are Snakemake's DAG: they miss none of its inputs, and run what depends on a change only."""

from __future__ import annotations

import csv
import json
import re
import statistics
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from cutlayer.plan import code
from tests.params import params

from .conftest import ROOT, Project, Repository, jobs_between, stages

STAGES = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
PAPERS = params()["papers"]
JOB = re.compile(r"^(?:local)?rule (\w+):\n((?:    .*\n)+)", flags=re.M)
RULE = re.compile(r"^ *(?:use rule (?P<base>\w+) as|rule)(?: (?P<name>\w+)|:)", flags=re.M)
LOOP = "a rule that a loop names"
PART = re.compile(r"\"\.\./((?:workflow/scripts|envs)/[\w.]+)\"")


def paths(stage: str) -> list[str]:
    """What a stage writes."""
    entries = STAGES[stage].get("outs", []) + STAGES[stage].get("metrics", [])
    return [path for entry in entries for path in entry]


def within(file: str, parts: list[str]) -> bool:
    return any(file == part or file.startswith(f"{part}/") for part in parts)


def files_of_rules() -> dict[str, set[str]]:
    """Rule -> its rules file, script and environment; those that a loop names are one."""
    found: dict[str, set[str]] = {}
    for file in (ROOT / "rules").glob("*.smk"):
        text = file.read_text()
        rules = [*RULE.finditer(text)]
        for rule, following in zip(rules, [*rules[1:], None], strict=False):
            own = PART.findall(text, rule.end(), following.start() if following else len(text))
            found[rule["name"] or LOOP] = {f"rules/{file.name}", *own} | found.get(rule["base"], set())
    return found


def jobs(output: str) -> Iterator[tuple[str, set[str], list[str]]]:
    """(rule, inputs, outputs) of every job that a dry run lists."""
    ungrouped = re.sub(r"^ {4}(?= {4}|\[|rule|localrule)", "", output, flags=re.M)
    for rule, block in JOB.findall(ungrouped):
        fields = dict(re.findall(r"^    (input|output): (.*)$", block, flags=re.M))
        if "output" in fields:
            yield rule, set(fields.get("input", "").split(", ")) - {""}, fields["output"].split(", ")


def with_imports(files: set[str]) -> set[str]:
    """These files and all that those of the library among them import."""
    own = [ROOT / file for file in files if file.startswith("workflow/cutlayer/") and file.endswith(".py")]
    return files | {str(Path(file).relative_to(ROOT)) for file in code.closure(*own)}


def test_every_input_of_a_job_is_a_dependency_of_its_stage(project: Project) -> None:
    own_files, missing, found = files_of_rules(), [], 0
    for rule, inputs, outputs in jobs(project.run("--dry-run", "--forceall")):
        (stage,) = {name for name in STAGES for output in outputs if within(output, paths(name))}
        known = STAGES[stage]["deps"] + paths(stage)
        own = own_files.get(rule, own_files[LOOP])
        missing += [f"{stage}: {file}" for file in with_imports(inputs) | own if not within(file, known)]
        found += 1
    assert found > 300
    assert not set(missing), f"not in dvc.yaml: {sorted(set(missing))}"


@pytest.mark.parametrize("stage", ["data", "runs", "exhibits"])
def test_folders_for_which_a_subset_of_papers_has_nothing_are_made(stage: str) -> None:
    _, made = STAGES[stage]["cmd"]
    assert made.split() == ["mkdir", "-p", *(path for path in paths(stage) if not Path(path).suffix)]


def test_repro_after_snakemake_makes_nothing_again(recorded: Repository) -> None:
    """What the first one ran, the fixture has seen; the second one runs no stage."""
    before = recorded.times()
    assert stages(recorded.dvc("repro")) == dict.fromkeys(STAGES, False)
    assert recorded.times() == before


def test_the_report_of_the_last_stage_has_every_exhibit(recorded: Repository) -> None:
    report = (recorded.folder / "results/report.html").read_text()
    for paper in PAPERS:
        for file in (recorded.folder / "results/exhibits" / paper).glob("*.csv"):
            assert f"{file.stem}." in report, file
    assert "ledger." in report


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
    ran = stages(changed.dvc("exp", "run", "--set-param", "attacks.gia.steps=40"))
    assert ran == {"data": False, "runs": True, "exhibits": True, "ledger": True, "site": True}

    again = jobs_between(before, changed.times())
    first = {log for log in again if log.startswith("attack/")}
    edited = attacks_on_runs_with("model_completion", changed.folder)
    assert edited  # the same scores come out, so nothing follows
    other = attacks_on_runs_with("gia", changed.folder)
    assert not edited & other
    assert first == edited | other
    assert {log for log in again - first if log.startswith("cells/")} == {"cells/chebyshev/comparison.log"}
    assert {log.split("/")[0] for log in again} <= {"attack", "cells", "exhibits", "ledger.log", "site.log"}
    assert changed.up_to_date()

    text = (changed.folder / "params.yaml").read_text()
    was["attacks"]["gia"]["steps"] = 40
    assert yaml.safe_load(text) == was
    assert "# A variant: a method and its parameters" in text
    assert set(changed.git("diff", "--name-only").split()) <= {attack, "params.yaml", "dvc.lock"}


def test_metrics_are_the_verdicts_and_the_headlines(tracked: Repository) -> None:
    (shown,) = json.loads(tracked.call("dvc", "metrics", "show", "--json").stdout).values()
    metrics = shown["data"]["results/metrics.json"]["data"]
    with (tracked.folder / "results/claims.csv").open() as claims:
        judged = Counter((row["paper"], row["kind"], row["verdict"]) for row in csv.DictReader(claims))
    counts = [
        (p, k, v, n) for p, kinds in metrics["ledger"].items() for k, own in kinds.items() for v, n in own.items()
    ]
    assert {tuple(who): count for *who, count in counts} == judged
    held = metrics["ledger"]["chebyshev"]["claim"]["holds (reduced)"]
    assert held > 0
    for paper in PAPERS:
        assert set(metrics[paper]) == {"utility", "leak", "provenance"}
    rows = csv.DictReader((tracked.folder / "results/exhibits/chebyshev/figure9.csv").open())
    errors = [float(row["mean"]) for row in rows if (row["defense"], row["attack"]) == ("pps", "rcc1")]
    assert metrics["chebyshev"]["leak"] == pytest.approx(statistics.fmean(errors), rel=1e-6)
    file = tracked.folder / "results/metrics.json"
    kept = metrics | {"ledger": {"chebyshev": {"claim": {"holds (reduced)": 1}}}}
    file.write_text(json.dumps(kept))
    difference = json.loads(tracked.call("dvc", "metrics", "diff", "--json").stdout)
    assert difference["results/metrics.json"]["ledger.chebyshev.claim.holds (reduced)"]["new"] == 1


def test_plots_show_pictures_and_curves(tracked: Repository) -> None:
    tracked.dvc("plots", "show")
    page = (tracked.folder / "dvc_plots/index.html").read_text()
    pictures = {file.name for file in (tracked.folder / "dvc_plots/static").glob("*.png")}
    assert len(pictures) >= 5
    assert all(f"static/{name}" in page for name in pictures)
    assert '"predictions"' in page  # the data behind figure 7, which vega draws
    assert not tracked.git("status", "--porcelain")


def test_dvc_lock_was_written_with_this_code(tmp_path) -> None:
    """Of the repository itself: what the code's files and the params are, not whether the results are here."""
    here = Repository(ROOT)
    done = here.call("env", f"DVC_SITE_CACHE_DIR={tmp_path}", "dvc", "status", "--json", "dvc.yaml")
    entries = [entry for entries in json.loads(done.stdout).values() for entry in entries if isinstance(entry, dict)]
    made = [path for stage in STAGES for path in paths(stage)]
    changed = {file for entry in entries for file in entry.get("changed deps", {})}
    differing = {file for file in changed if not any(within(path, [file]) or within(file, [path]) for path in made)}
    assert not differing, f"dvc.lock was written with another {sorted(differing)}: `make record`, then commit dvc.lock"
    assert yaml.safe_load((ROOT / "dvc.lock").read_text())["stages"].keys() == STAGES.keys()
