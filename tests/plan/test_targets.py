"""Files that are asked for by name: a name that the plan does not have comes with the nearest one."""

from __future__ import annotations

import re

import pytest
from tests.params import params

from cutlayer.core.errors import InputError
from cutlayer.plan import targets
from cutlayer.plan.plan import Plan


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan(params())


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("results/exhibits/marvell/figure2.png", "there is no exhibit 'figure2'; did you mean 'figure2a'?"),
        ("results/exhibits/marvel/figure2a.png", "there is no paper 'marvel'; did you mean 'marvell'?"),
        ("./results/cells/marvell/figure2.csv", "there is no exhibit 'figure2'; did you mean 'figure2a'?"),
        ("results/scores/digitz/none/norm.csv", "there is no setup 'digitz'; did you mean 'digits'?"),
        ("results/scores/criteo/non/norm.csv", "there is no defense 'non'; did you mean 'none'?"),
        ("results/scores/criteo/none/norms.csv", "there is no attack 'norms'; did you mean 'norm'?"),
        ("results/scores/digits/none/norm.csv", "attack.norm is not for the protocol vertical; expected "),
        ("results/runs/digits/marvell/utility.csv", "defense.marvell is not for the protocol vertical; expected "),
        ("results/runs/criteos/times.csv", "there is no setup 'criteos'; did you mean 'criteo'?"),
        ("results/runs/criteo/nonne/seed0.truth.safetensors", "there is no defense 'nonne'; did you mean 'none'?"),
        ("results/runs/criteo/none/seed77.truth.safetensors", "there is no seed 77; expected 0, 1, 2"),
        ("results/theory/marvell/criteoo/none.csv", "there is no setup 'criteoo'; did you mean 'criteo'?"),
        ("results/matches/criteo/none.csv", "no exhibit matches that defense there; "),
        ("results/vulnerable/criteo/nope.csv", "there is no defense 'nope'; "),
        ("results/priors/nope.safetensors", "there is no setup 'nope'; "),
        ("data/normalised/bnk.json", "there is no dataset 'bnk'; did you mean 'bank'?"),
    ],
)
def test_a_name_that_there_is_not_is_refused_with_the_nearest(plan: Plan, target: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(f'{target}: {sentence}')}"):
        targets.check(["--cores", "1", "all", target], plan)


def test_every_file_of_the_plan_and_all_else_are_taken(plan: Plan) -> None:
    sources = ("scores", "utility", "theory", "times", "matches", "vulnerable")
    found = [file for paper, _, e in plan.all_exhibits() for source in sources for file in plan.files(paper, e, source)]
    found += [
        f"results/{part}/{paper}/{name}.csv" for paper, name, _ in plan.all_exhibits() for part in ("exhibits", "cells")
    ]
    found += [f"data/normalised/{name}.json" for name in plan.datasets()]
    assert len(found) > 1000
    others = [
        "all",
        "marvell",
        "-n",
        "--config",
        "scale=quick",
        "results/site",
        "results/ledger.csv",
        "data/normalised",
    ]
    targets.check([*found, *others, "results/runs", "logs/run/nowhere/none.log"], plan)
