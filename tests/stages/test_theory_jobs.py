"""What a theory job writes: rows of every setting and seed of a run, of a paper's own measurements."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from cutlayer.core import transcript
from cutlayer.core.artifacts import write_arrays
from cutlayer.stages import theory
from cutlayer.stages.theory import Case


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """`measured(measure, settings)`: the rows of two seeds with these settings; the second may have failed."""

    def make(measure, settings, failed=""):
        monkeypatch.setitem(sys.modules, "cutlayer.stages.measures.mine", SimpleNamespace(measure=measure))
        files = [(tmp_path / f"{seed}.transcript", tmp_path / f"{seed}.truth") for seed in range(2)]
        for seed, (seen, true) in enumerate(files):
            own = {setting: {"sent": np.full(3, place)} for place, setting in enumerate(settings)}
            transcript.save(seen, own, {"known": np.array(seed)}, failed if seed else "")
            write_arrays(true, {"labels": np.arange(3)} | {f"{setting}|kept": own[setting]["sent"] for setting in own})
        output = tmp_path / "rows.csv"
        theory.measure("mine", "bank", "dp", *zip(*files, strict=True), [0, 1], output)
        return pd.read_csv(output, keep_default_na=False, na_values={"value": [""]})

    return make


def test_every_setting_and_seed_is_measured_with_its_own_view_and_truth(measured):
    def measure(seen, truth, case):
        yield {"metric": "sent", "value": seen["sent"][0]}
        yield {"metric": "known", "value": seen["known"].item()}
        yield {"metric": "kept", "value": truth["kept"][0] + truth["labels"].sum()}

    rows = measured(measure, ["a=1", "a=2"])
    assert set(rows["defense"]) == {"dp"}
    assert set(rows["setup"]) == {"bank"}
    table = rows.pivot(index=["seed", "setting"], columns="metric", values="value")
    assert table.index.tolist() == [(0, "a=1"), (0, "a=2"), (1, "a=1"), (1, "a=2")]
    assert table["sent"].tolist() == [0, 1, 0, 1]
    assert table["known"].tolist() == [0, 0, 1, 1]
    assert table["kept"].tolist() == [3, 4, 3, 4]


def test_a_row_may_name_a_setting_of_its_own(measured):
    rows = measured(lambda seen, truth, case: [{"setting": "step=100", "metric": "x", "value": 1}], [""])
    assert rows["setting"].tolist() == ["step=100"] * 2


def test_a_seed_that_failed_says_so_and_the_others_are_measured(measured):
    rows = measured(lambda seen, truth, case: [{"metric": "x", "value": 1}], [""], failed="it diverged")
    assert rows[["seed", "metric"]].to_numpy().tolist() == [[0, "x"], [1, ""]]
    assert rows["skipped"].tolist() == ["", "it diverged"]


def test_a_measurement_is_given_generators_of_its_own_name(measured):
    def measure(seen, truth, case):
        for purpose in ("split", "split", "adversary"):
            yield {"metric": purpose, "value": case.generator(purpose).random()}

    rows = measured(measure, ["a=1", "a=2"])
    drawn = rows.groupby(["seed", "setting", "metric"])["value"].nunique()
    assert (drawn == 1).all()
    assert rows["value"].nunique() == len(drawn) == 8
    case = Case("mine", "bank", "dp", "a=2", 1)
    assert case.generator("split").random() == rows["value"].iloc[-2]
