"""How a scale cuts setups into jobs, and that a table does not depend on it."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.params import params

from cutlayer.core.artifacts import join_rows, write_rows
from cutlayer.core.errors import InputError
from cutlayer.plan import plugins
from cutlayer.plan.grains import grains
from cutlayer.plan.plan import Plan
from cutlayer.plan.sizes import smaller

CONFIG = params()
NAMES = st.sets(st.sampled_from(list(CONFIG["setups"])))


def planned(**said):
    config = copy.deepcopy(CONFIG)
    config["scales"]["quick"] |= said
    return Plan(config | {"scale": "quick"})


@given(one_seed=NAMES, temporary=NAMES)
def test_each_setup_is_cut_one_way(one_seed, temporary):
    found = list(grains(CONFIG["setups"], one_seed, temporary))
    assert sorted(name for grain in found for name in grain.setups) == sorted(CONFIG["setups"])
    assert {name for grain in found if grain.one_seed for name in grain.setups} == one_seed
    assert {name for grain in found if grain.temporary for name in grain.setups} == temporary
    assert len({grain.suffix for grain in found}) == len(found)


def test_quick_has_one_grain():
    (grain,) = planned().grains
    assert (grain.suffix, grain.part) == ("", "")


@pytest.mark.parametrize("key", ["one_seed_a_job", "temporary"])
def test_a_misspelt_setup_is_refused(key):
    with pytest.raises(InputError, match=rf"scales\.quick\.{key}: there is no setup 'minst'; .*'mnist'"):
        planned(**{key: ["minst"]})


def test_attacks_of_setups_that_are_cut_otherwise_are_other_jobs():
    plan = planned(one_seed_a_job=["criteo"], temporary=["cifar10"])
    jobs = plan.shared_jobs()
    assert len({grain for _, grain in jobs}) > 1
    for (_, grain), runs in jobs.items():
        assert {setup for setup, _ in runs} <= set(grain.setups)


@pytest.mark.parametrize("small_jobs", [True, False])
def test_attacks_on_a_run_are_one_job_if_jobs_are_small_or_they_are_cheap(small_jobs):
    plan = planned(cluster={"small_jobs": small_jobs})
    together = {attack for attacks, _ in plan.shared_jobs() for attack in attacks}
    cheap = {name for name in together if plugins.method("attack", plan.attacks[name]["use"]).constants["cheap"]}
    assert cheap
    assert (together == cheap) != small_jobs


def test_a_scale_has_the_last_word_on_a_defense_in_one_setup():
    setups = {"celeba_male": {"defenses": {"tcpo_exact": {"rows": 7}}}}
    plan = planned(setups=setups)
    assert plan.defense("celeba_male", "tcpo_exact")["rows"] == 7
    assert plan.defense("celeba_attractive", "tcpo_exact")["rows"] != 7


def test_what_a_scale_says_of_a_setup_is_above_what_it_says_of_all():
    sizes = {"defenses": {"adv": {"sweep": {"weight": [1.0, 3.0]}}}}
    own = {"defenses": {"adv": {"sweep": {"weight": [5.0]}}}}
    plan = planned(**sizes, setups={"adult_sex": own, "adult_sex_poisoned": own})  # of one exhibit
    assert plan.defense("adult_sex", "adv")["sweep"]["weight"] == [5.0]
    assert plan.defense("adult_relationship", "adv")["sweep"]["weight"] == [1.0, 3.0]


VALUES = st.one_of(st.none(), st.integers(), st.floats(), st.text(st.characters(exclude_categories=["Cs", "Cc"])))
ROWS = st.lists(st.dictionaries(st.sampled_from(["seed", "value", "kept", "last"]), VALUES, min_size=1), min_size=1)


@given(parts=st.lists(ROWS, min_size=1, max_size=3))
def test_parts_of_a_table_join_to_the_same_file(tmp_path_factory, parts):
    folder = tmp_path_factory.mktemp("rows")
    files = [folder / f"{place}.csv" for place in range(len(parts))]
    for file, rows in zip(files, parts, strict=True):
        write_rows(file, rows)
    write_rows(folder / "whole.csv", [row for rows in parts for row in rows])
    join_rows(files, folder / "joined.csv")
    assert (folder / "joined.csv").read_bytes() == (folder / "whole.csv").read_bytes()


def test_reference_is_the_papers_scale_where_two_cores_can_do_it():
    reduced = smaller(CONFIG, "reference")["setup"]
    vertical = {name for name, setup in CONFIG["setups"].items() if setup["protocol"] == "vertical"}
    adult = {name for name, setup in CONFIG["setups"].items() if setup["dataset"] == "adult"}
    assert vertical
    assert adult
    assert not (vertical | adult) & set(reduced)
