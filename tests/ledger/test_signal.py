"""Signal: what is asked of a set of attacks is asked of the set of the exhibit that is judged."""

from __future__ import annotations

import pandas as pd
import pytest

from cutlayer.ledger.cells import WHO
from cutlayer.ledger.signal import Signals


def exhibit(value, by, defense="none", setting="", metric="coin_auc"):
    """Cells of an exhibit that shows the strongest attack of a set."""
    who = dict.fromkeys(WHO, "") | {"setup": "s", "defense": defense, "setting": setting, "attack": "any_attack"}
    facts = {"metric": metric, "by": by, "skipped": "", "tested": 100, "chance": 0.5, "error": 0.03}
    return pd.DataFrame(
        [who | facts | {"seed": seed, "value": value + off} for seed, off in enumerate((-0.01, 0, 0.01))]
    )


def lacking(name, **tables):
    used = tables[name].assign(defense="d", setting="")
    return Signals(tables).lacking({"statistic": "gap", "exhibit": name}, used)


def test_a_set_of_one_exhibit_has_not_the_signal_of_another_exhibit_s():
    """Of five attacks on all releases and of two on one: no adversary makes the mean of both."""
    tables = {"all": exhibit(0.9, "a"), "one": exhibit(0.46, "b")}
    assert lacking("all", **tables) == ""
    assert "coin_auc 0.460 (less what pairs of coins may add), chance 0.500" in lacking("one", **tables)


@pytest.mark.parametrize(
    ("defense", "setting", "whose"), [("none", "", ""), ("at", "weight=0.0", " under at[weight=0.0]")]
)
def test_the_run_that_has_no_signal_is_named_unless_it_is_the_undefended_one(defense, setting, whose):
    why = lacking("e", e=exhibit(0.5, "a", defense, setting, "attack_auc"))
    assert f"attack_auc 0.500{whose}, chance 0.500" in why


@pytest.mark.parametrize(("defense", "setting"), [("none", ""), ("at", "weight=0.0")])
def test_no_signal_is_asked_of_an_attack_where_no_defense_acts(defense, setting):
    """An accuracy of an attack without a defense is what it is; one that a defense has to lower is not."""
    idle = exhibit(0.5, "", defense, setting, "attack_auc")
    check = {"statistic": "value", "exhibit": "e"}
    assert Signals({"e": idle}).lacking(check, idle) == ""
    active = exhibit(0.5, "", "at", "weight=1.0", "attack_auc")
    assert Signals({"e": pd.concat([idle, active])}).lacking(check, active)


@pytest.mark.parametrize(("second", "named"), [(0.5, True), (0.9, False)])
def test_where_all_attacks_lack_a_signal_the_reason_names_each(second, named):
    runs = {"first": 0.5, "second": second}
    table = pd.concat([exhibit(value, "", metric="attack_auc").assign(attack=name) for name, value in runs.items()])
    why = lacking("e", e=table)
    assert [f"the attack {name} is not surely" in why for name in runs] == [named, named]
