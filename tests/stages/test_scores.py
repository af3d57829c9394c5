"""What a run and an attack write into files is what they measure without any.

Photographs at the published size were measured so, by commit 76d5651a, before the workflow ran them: this is why they
are evidence (`reference/runs.csv`).
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from tests.golden.test_games import EFFORTS, SETUPS

from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins
from cutlayer.stages import runs, scores

SEEDS = (0, 1)
ATTACKS = {name: {"use": name} | EFFORTS[name] for name in ("basic", "dpa")}
KEY = ["seed", "attack", "metric"]


def test_files_between_the_jobs_change_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"protocol": "split_server"} | SETUPS["split_server"]
    table = plugins.create("dataset", settings["dataset"]).load({})
    monkeypatch.setattr(runs, "read", lambda *_: (table, None))
    runs.execute("own", "none", settings, {"use": "none"}, tmp_path, [], tmp_path / "utility.csv", SEEDS)
    seen, true = ([tmp_path / f"seed{seed}.{kind}.safetensors" for seed in SEEDS] for kind in ("transcript", "truth"))
    files = [tmp_path / f"{name}.csv" for name in ATTACKS]
    scores.score("own", "none", "split_server", ATTACKS, seen, true, SEEDS, files)
    written = pd.concat([pd.read_csv(file) for file in [tmp_path / "utility.csv", *files]]).fillna({"attack": ""})

    protocol, found = plugins.create("protocol", "split_server"), []
    for seed in SEEDS:
        methods = {"": plugins.create("defense", "none", {}, "split_server")}
        outcome = protocol.run(Task("own", "none", seed, table, settings, methods))
        arrays = outcome.shared | outcome.transcripts[""]
        found += [{"attack": "", "seed": seed} | row for row in outcome.utility]
        for name, variant in ATTACKS.items():
            method, who = plugins.create("attack", *plugins.used(variant)), ("own", "none", "", name, seed)
            rows = scores.measured(method, protocol, outcome.truth, "cpu", arrays, who)
            found += [{"attack": name, "seed": seed} | row for row in rows]
    for one in (written, found := pd.DataFrame(found)):
        assert {"test_accuracy", "attack_accuracy", "attack_accuracy_max"} <= {*one["metric"]}
    columns = [*KEY, "value"]
    pd.testing.assert_frame_equal(
        *(one.dropna(subset=["value"])[columns].sort_values(columns, ignore_index=True) for one in (written, found))
    )
