"""Which setups and methods are smaller than at the paper's scale, by comparison."""

from __future__ import annotations

import copy

import pytest
from tests.params import params

from cutlayer.core.errors import InputError
from cutlayer.plan import show
from cutlayer.plan.plan import Plan
from cutlayer.plan.sizes import smaller

CONFIG = params()


def test_at_the_papers_scale_everything_is_full():
    assert smaller(CONFIG, "paper") == {"setup": {}, "defense": {}, "attack": {}}


def test_what_a_scale_says_otherwise_is_named():
    found = smaller(CONFIG, "quick")
    assert set(found["setup"]) == set(CONFIG["setups"])
    assert "batch" in found["setup"]["criteo"]
    assert found["attack"]["gia"] == "steps"


@pytest.mark.parametrize(
    ("section", "name", "said"),
    [("setups", "wine", {"predictions": 7}), ("defenses", "tcpo", {"refresh": 9}), ("attacks", "gia", {"steps": 9})],
)
def test_nothing_is_typed_in_for_it(section, name, said):
    config = copy.deepcopy(CONFIG)
    config["scales"]["night"] = copy.deepcopy(config["scales"]["paper"])
    config["scales"]["night"].setdefault(section, {})[name] = said
    found = smaller(config, "night")
    assert {kind: own for kind, own in found.items() if own} == {section[:-1]: {name: next(iter(said))}}


def test_fewer_settings_of_a_sweep_and_fewer_seeds_are_no_size():
    config = copy.deepcopy(CONFIG)
    config["scales"]["night"] = copy.deepcopy(config["scales"]["paper"]) | {"seeds": 2}
    config["scales"]["night"].setdefault("defenses", {})["iso"] = {"sweep": {"ratio": [1.0]}}
    assert not any(smaller(config, "night").values())


def test_there_is_something_to_compare_with():
    config = copy.deepcopy(CONFIG)
    del config["scales"]["paper"]
    with pytest.raises(InputError, match=r"there is no scale 'paper'"):
        smaller(config, "quick")


@pytest.mark.parametrize("scale", ["quick", "reference"])
def test_what_is_shown_of_a_setup_is_what_runs_and_names_the_place_that_decides(scale):
    config = CONFIG | {"scale": scale}
    setup = Plan(config).setups["criteo"]
    found = show.resolved(config, "criteo").set_index("key")
    assert found.loc["batch", "value"] == str(setup["batch"])
    assert found.loc["model.width", "value"] == str(setup["model"]["width"])
    own = config["scales"][scale]["setups"]["criteo"]
    expected = "setups.criteo" if "batch" in own else "split"
    assert found.loc["batch", "from"] == f"scales.{scale}.{expected}"
    assert found.loc["dataset", "from"] == "setups.criteo"
    assert found.loc["model.width", "from"] == f"scales.{scale}.models.wide_deep"


def test_showing_an_unknown_setup_names_the_nearest():
    with pytest.raises(InputError, match="SETUP: there is no setup 'criteoo'; did you mean 'criteo'"):
        show.resolved(CONFIG, "criteoo")
