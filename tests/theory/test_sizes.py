"""Which setups and methods are smaller than at the paper's scale, by comparison."""

from __future__ import annotations

import copy

import pytest
from tests.params import params

from cutlayer.core.errors import InputError
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
