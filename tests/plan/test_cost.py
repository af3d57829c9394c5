"""What a scale takes: pieces of work times what they took in a run, in proportion to sizes and to the machine."""

from __future__ import annotations

import copy
import re

import pytest
from tests.params import params

from cutlayer.plan import cost, jobs
from cutlayer.plan.plan import Plan
from cutlayer.plan.sweeps import settings_of

CONFIG = params()


def planned(scale="quick", **said):
    """A plan of two papers; `said` replaces values of the scale, at places such as split__epochs."""
    config = copy.deepcopy(CONFIG)
    for place, value in said.items():
        own = config["scales"][scale]
        *path, last = place.split("__")
        for key in path:
            own = own.setdefault(key, {})
        own[last] = value
    return Plan(config | {"scale": scale, "papers": ["marvell", "chebyshev"]})


PLAN = planned()


def rows(plan, seconds=2.0, yardstick=1.0):
    """A table in which every piece took so many seconds and left a megabyte."""
    found = []
    for case in cost.by_setup(plan):
        digest, work = cost.sizes(plan, *case)
        own = {"scale": plan.scale, "setup": case[0], "kind": case[1], "sizes": digest, "work": str(work)}
        measured = {"seconds": str(seconds), "megabytes": "1", "machine": "slow", "yardstick": str(yardstick)}
        found.append(own | measured)
    return found


def work(plan, setup, kind):
    return sum(job.files * job.pieces for job in cost.by_setup(plan)[setup, kind])


def of(found, setup, kind):
    (row,) = found[(found["setup"] == setup) & (found["kind"] == kind)].to_dict("records")
    return row


def test_a_piece_is_a_training_or_an_attack_of_one_seed_and_one_setting():
    seeds = len(PLAN.seeds)
    attacks = {run: own for (own, _), runs in PLAN.shared_jobs().items() for run in runs}
    for paper in PLAN.papers:
        for job in jobs.jobs(PLAN, paper):
            kind, setup, *names = job.log.partition(".")[0].split("/")
            if kind == "run":
                assert job.pieces == seeds * len(settings_of(PLAN.defense(setup, names[0])))
            if kind == "attack":
                settings = len(settings_of(PLAN.defense(setup, names[0])))
                assert job.pieces == seeds * settings * len(attacks[setup, names[0]])


def test_jobs_of_one_seed_are_more_and_the_work_is_the_same():
    cut = planned(one_seed_a_job=["criteo"])
    for kind in ("run", "attack"):
        whole, own = (cost.by_setup(plan)["criteo", kind] for plan in (PLAN, cut))
        assert sum(job.files for job in own) == len(PLAN.seeds) * sum(job.files for job in whole)
        assert work(cut, "criteo", kind) == work(PLAN, "criteo", kind)


@pytest.mark.parametrize(("yardstick", "unit", "times"), [(1.0, 1.0, 1), (1.0, 3.0, 3), (2.0, 1.0, 0.5)])
def test_hours_are_pieces_times_seconds_times_how_much_slower_this_machine_is(yardstick, unit, times):
    found = cost.costs(PLAN, rows(PLAN, yardstick=yardstick), unit)
    pieces = {kind: work(PLAN, "criteo", kind) for kind in ("run", "attack")}
    for kind, count in pieces.items():
        assert of(found, "criteo", kind)["hours"] == pytest.approx(count * 2 * times / 3600)
    assert of(found, "criteo", "run")["GB"] == pytest.approx(pieces["run"] / 1000)
    total = sum(job.files * job.pieces for own in cost.by_setup(PLAN).values() for job in own) * 2 * times / 3600 / 4
    told = cost.text(PLAN, found, 4)
    assert f"take {total:.2f} hours on 4 cores" in told
    assert f"{times:.2f} (slow)" in told
    assert "Not recorded" not in told


def test_other_epochs_take_in_proportion_and_the_row_says_so():
    epochs = PLAN.setups["criteo"]["epochs"]
    longer = planned(setups__criteo__epochs=3 * epochs)
    before, after = (of(cost.costs(plan, rows(PLAN), 1.0), "criteo", "run") for plan in (PLAN, longer))
    assert after["hours"] == pytest.approx(3 * before["hours"])
    assert (before["recorded"], after["recorded"]) == ("quick", "quick x 3")


def test_a_setup_with_another_model_is_not_recorded_and_named():
    wider = planned(models__wide_deep__width=512)
    found = cost.costs(wider, rows(PLAN), 1.0)
    assert of(found, "criteo", "run")["recorded"] == ""
    assert of(found, "wine", "run")["recorded"] == "quick"
    told = cost.text(wider, found, 2)
    assert re.search(r"Not recorded, and not counted, are \d+ of them: .*criteo \([a-z, ]*run", told)
    assert f"take {found['hours'].sum() / 2:.2f} hours" in told


def test_attacks_that_try_harder_are_not_recorded():
    harder = planned(attacks__gia__steps=9999)
    found = cost.costs(harder, rows(PLAN), 1.0)
    assert [of(found, "wine", kind)["recorded"] for kind in ("run", "attack")] == ["quick", ""]
    assert of(found, "criteo", "attack")["recorded"] == "quick"  # which gia is not for


def test_the_row_of_this_scale_comes_before_that_of_another_with_the_same_sizes():
    others = [row | {"scale": "paper", "seconds": "7"} for row in rows(PLAN)]
    for table in (others + rows(PLAN), rows(PLAN) + others):
        assert of(cost.costs(PLAN, table, 1.0), "wine", "run")["recorded"] == "quick"
    assert of(cost.costs(PLAN, others, 1.0), "wine", "run")["recorded"] == "paper"


def test_transcripts_that_are_deleted_take_no_disk():
    passing = planned(temporary=["criteo"])
    kept, left = (cost.costs(plan, rows(PLAN), 1.0)["GB"].sum() for plan in (PLAN, passing))
    assert kept - left == pytest.approx(sum(work(PLAN, "criteo", kind) for kind in KINDS) / 1000)


KINDS = [kind for setup, kind in cost.by_setup(PLAN) if setup == "criteo"]


def test_nothing_recorded_is_no_hours():
    told = cost.text(PLAN, cost.costs(PLAN, [], 1.0), 2)
    assert "hours" not in told
    count = sum(job.files for own in cost.by_setup(PLAN).values() for job in own)
    assert f"are {count} of them" in told
