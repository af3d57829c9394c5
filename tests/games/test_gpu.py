"""Every game, defense and attack on a GPU; a machine without one leaves these out."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from tests.conftest import SETUPS, SPLIT_SETUPS, clicks
from tests.games import test_federated as federated
from tests.games import test_split_server as server

from cutlayer.core.devices import granted
from cutlayer.core.errors import InputError
from cutlayer.data.datasets.base import Table
from cutlayer.games.base.protocol import Outcome, Protocol, Task
from cutlayer.plan import plugins
from cutlayer.stages.scores import measured

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU here")
NEAR = 1e-3  # between CPU and GPU, absolute, of what one epoch of float32 leaves
TRAININGS: dict[str, dict[str, Any]] = {
    "vertical": SETUPS["two_classes"],
    "split": SPLIT_SETUPS["clicks"],
    "split, images": SPLIT_SETUPS["images"] | {"epochs": 2},
    "split_server": server.SETTINGS | {"poison": 0.2},
    "split_server, images": server.SETTINGS
    | {"model": {"use": "strided_cnn", "channels": 4}, "batch": 20, "poison": 0.2},
    "federated": federated.SETTINGS,
    "federated, images": federated.SETTINGS | {"model": federated.SMALL_VGG, "pretraining": 0},
}
SHORT = {"model_completion": {"epochs": 2, "steps": 5}, "guess_k": {"most": 5}}  # the defaults take long
SMALL = {"threshold": 1.0, "components": 4}
OWN = {"tcpo": SMALL, "tcpo_composed": SMALL, "linear": {"components": 4}}
CASES = [
    (name, defense)
    for name, settings in TRAININGS.items()
    for defense in plugins.names("defense", settings["protocol"])
]  # fmt: skip


MADE = {  # rows for a training that scikit-learn has no data for
    "split": clicks, "split_server": server.table, "split_server, images": server.images, "federated": federated.table,
    "federated, images": federated.images,
}  # fmt: skip


def table_of(name: str) -> Table:
    """Rows for a training."""
    return MADE[name]() if name in MADE else plugins.create("dataset", TRAININGS[name]["dataset"]).load({})


def task_of(name: str, defense: str, device: str, **changes: Any) -> Task:
    """One training, on a device."""
    settings = TRAININGS[name] | changes
    game, table = settings["protocol"], table_of(name)
    method = plugins.create("defense", defense, OWN.get(defense, {}), game)
    task = Task(name, defense, 0, table, settings, {"": method}, device=device)
    if game == "vertical" and defense != "none":
        none = replace(task, defenses={"": plugins.create("defense", "none", {}, game)})
        return replace(task, trained=protocol(name).run(none).learned)
    return task


def protocol(name: str) -> Protocol:
    return plugins.create("protocol", TRAININGS[name]["protocol"])


def trained(name: str, defense: str, device: str, **changes: Any) -> Outcome:
    """What comes of it."""
    return protocol(name).outcome(task_of(name, defense, device, **changes))


@pytest.fixture(scope="module", autouse=True)
def gpu() -> None:
    """As a job that was granted one finds it."""
    assert granted(1) == "cuda"


@pytest.mark.parametrize(("name", "defense"), CASES)
def test_a_training_and_all_attacks_on_it_run_on_a_gpu(name: str, defense: str) -> None:
    try:
        outcome = trained(name, defense, "cuda")
    except InputError as error:  # a defense that is not for such data says the same on a CPU
        with pytest.raises(InputError, match=re.escape(str(error))):
            trained(name, defense, "cpu")
        return
    assert outcome.finite
    seen = outcome.shared | outcome.transcripts[""]
    for attack in plugins.names("attack", TRAININGS[name]["protocol"]):
        method = plugins.create("attack", attack, SHORT.get(attack, {}))
        meant = not method.classes or int(seen["classes"]) in method.classes
        if meant and method.needs <= set(seen):
            rows = measured(method, protocol(name), outcome.truth, "cuda", seen, (name, defense, "", attack, 0))
            assert any(row.get("skipped") or np.isfinite(row["value"]) for row in rows), attack


@pytest.mark.parametrize("name", TRAININGS)
def test_a_short_training_is_the_same_to_rounding(name: str) -> None:
    short = {"rounds": 1, "local_epochs": 1} if name.startswith("federated") else {"epochs": 1}
    here, there = (trained(name, "none", device, **({} if name == "vertical" else short)) for device in ("cpu", "cuda"))
    for arrays, others in ((here.transcripts[""], there.transcripts[""]), (here.shared, there.shared)):
        assert arrays.keys() == others.keys()
        for key, array in arrays.items():
            if key != "encoder":  # a bias before a normalization has a gradient of rounding, which Adam makes a step of
                np.testing.assert_allclose(others[key], array, atol=NEAR, rtol=NEAR, err_msg=key)
