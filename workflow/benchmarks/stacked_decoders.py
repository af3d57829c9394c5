"""dpa's decoders, one for each epoch of a training, side by side, against one after the other.

Run `python workflow/benchmarks/stacked_decoders.py [note]`, after `make data`; it prints a table and writes it beside
this file, with the note. The features are those of an undefended training at a scale's sizes, seed 0. A round trains
all decoders in both ways, in random order, on the same draws.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from machine import machine
from table import markdown, write
from trials import at_scale, read

from cutlayer.core.seeds import generator
from cutlayer.core.transcript import View
from cutlayer.games.attributes.decoder import Recipe, decoder, probabilities, tensor
from cutlayer.games.attributes.decoders import decoders
from cutlayer.games.base.protocol import Task
from cutlayer.plan import plugins

CASES = (("adult_sex_poisoned", "quick"), ("adult_sex_poisoned", "reference"), ("celeba_male_poisoned", "quick"))
ROUNDS, WARM_UP = 7, 1
Way = Callable[[View, Recipe], np.ndarray]


def together(view: View, recipe: Recipe) -> np.ndarray:
    """What all decoders guess, trained side by side."""
    poison, attribute, asked = (tensor(part, "cpu") for part in (view.poison, view.poison_attribute, view.intercepted))
    return decoders(view, poison, attribute, recipe)(asked)


def in_turn(view: View, recipe: Recipe) -> np.ndarray:
    """What all decoders guess, trained one after the other."""
    poison, attribute, asked = (tensor(part, "cpu") for part in (view.poison, view.poison_attribute, view.intercepted))
    trained = (decoder(view, own, attribute, recipe) for own in poison)
    return np.stack([probabilities(network, rows) for network, rows in zip(trained, asked, strict=True)])


def row(setup: str, scale: str) -> list[str]:
    """The table's row for a training."""
    plan = at_scale(scale)
    settings, protocol = plan.setups[setup], plugins.create("protocol", "split_server")
    none = plugins.create("defense", "none", {}, "split_server")
    outcome = protocol.run(Task(setup, "none", 0, read(settings["dataset"]), settings, {"": none}))
    seen = outcome.shared | outcome.transcripts[""]
    attack = plugins.create("attack", *plugins.used(plan.attacks["dpa"]))
    recipe = Recipe(attack.epochs, attack.batch, attack.rate, attack.held)
    order, seconds, apart = np.random.default_rng(0), np.zeros((WARM_UP + ROUNDS, 2)), 0.0
    ways: tuple[Way, Way] = (in_turn, together)
    for taken in seconds:
        found = [np.empty(0), np.empty(0)]
        for place in order.permutation(2):
            view = View("dpa", attack.sees, seen, generator("stacked_decoders", setup, scale), "cpu")
            start = time.process_time()
            found[place] = ways[place](view, recipe)
            taken[place] = time.process_time() - start
        apart = max(apart, float(np.abs(found[0] - found[1]).max()))
    ratio = seconds[WARM_UP:, 0] / seconds[WARM_UP:, 1]
    low, middle, high = np.quantile(ratio, [0.25, 0.5, 0.75])
    each = np.median(seconds[WARM_UP:], axis=0)
    size = " x ".join(map(str, seen["poison"].shape))
    return [
        setup,
        scale,
        size,
        *(f"{one:.2f}" for one in each),
        f"{middle:.2f}",
        f"{low:.2f} to {high:.2f}",
        f"{apart:.0e}",
    ]


def rows() -> Iterator[list[str]]:
    """One a training."""
    for setup, scale in CASES:
        yield row(setup, scale)


def main(note: str) -> None:
    """Measure, print, write."""
    torch.set_num_threads(1)
    columns = ["setup", "scale", "epochs x rows x features", "in turn, s", "side by side, s", "times as fast",
               "middle half", "guesses apart"]  # fmt: skip
    table = markdown(columns, rows(), "lll>>>l>")
    said = f"{machine('torch', 'numpy')} One thread, processor time. {note}".strip()
    how = f"{ROUNDS} rounds, both ways in each; the ratio is of the same round: median and middle half."
    write(__file__, "The decoders of dpa, side by side", said, how, table)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
