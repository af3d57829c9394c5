"""A step of tappfl's ten devices on CIFAR-10 at the published size: convolutions by groups, and by products.

Run `python workflow/benchmarks/stacked_convolutions.py [cpu | cuda] [note]`; it appends rows to the csv file beside it,
one for each way and precision, and writes a page from all of them. lambda is 0; the images are noise, and the two ways
take turns. A step is a batch of 10 of each device through its three networks and back.
"""

from __future__ import annotations

import csv
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import torch
from machine import machine
from table import markdown, write

from cutlayer.games.base.model import Inputs
from cutlayer.games.federated import convolutions, local, stacked
from cutlayer.games.federated.data import Batch
from cutlayer.plan import plugins

ROWS = Path(__file__).with_suffix(".csv")
NAMES = ["machine", "note", "precision", "by groups (ms)", "by products (ms)"]
DEVICES, BATCH, TURNS = 10, 10, 5
WAYS = (convolutions.by_groups, convolutions.by_products)


def batch(device: str) -> Batch:
    """Noise, of all devices."""
    draw, size = torch.Generator().manual_seed(0), (DEVICES, BATCH)
    return Batch(
        (torch.rand((*size, 3, 32, 32), generator=draw) * 2 - 1).to(device),
        torch.randint(0, 2, size, generator=draw).to(device),
        torch.randint(0, 10, size, generator=draw).to(device),
        torch.ones(size, dtype=torch.bool, device=device),
        torch.arange(BATCH).roll(-1).expand(size).contiguous().to(device),
    )


def step(device: str) -> Callable[[], None]:
    """A step, ended when it returns."""
    model = plugins.create("model", "vgg")
    inputs = Inputs(shape=[3, 32, 32], numeric=[], categorical=[], scale=255.0)
    torch.manual_seed(0)
    networks = {
        "extractor": model.extractor(inputs),
        "privacy": model.head(inputs, 2),
        "utility": torch.nn.ModuleList(model.critic(inputs, 2)),
    }
    stack = local.Stacked(networks, DEVICES, SimpleNamespace(device=device, values=2))  # type: ignore[arg-type]
    parameters = itertools.chain(*(network.parameters() for network in (stack.extractor, *stack.others.values())))
    optimizer = torch.optim.SGD(parameters, 1e-4)
    defense, rows = plugins.create("defense", "tappfl", {"weight": 0.0}, "federated"), batch(device)

    def run() -> None:
        optimizer.zero_grad()
        stack._loss(rows, defense).backward()
        optimizer.step()
        if device == "cuda":
            torch.cuda.synchronize()

    return run


def measured(device: str) -> np.ndarray:
    """Milliseconds (2,) of a step each way, the median over turns after one."""
    run, seconds = step(device), np.zeros((TURNS + 1, len(WAYS)))
    for turn, (i, way) in itertools.product(seconds, enumerate(WAYS)):
        stacked.convolved = way
        start = time.perf_counter()
        run()
        turn[i] = time.perf_counter() - start
    return 1e3 * np.median(seconds[1:], axis=0)


def append(device: str, note: str) -> None:
    """A row of each precision that the device has."""
    where = torch.cuda.get_device_name() if device == "cuda" else machine("torch").removesuffix(".")
    for tf32 in (False, True) if device == "cuda" else (False,):
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = tf32
        row = [where, note, "TF32" if tf32 else "float32", *(f"{ms:.1f}" for ms in measured(device))]
        with ROWS.open("a", newline="", encoding="utf-8") as rest:
            csv.writer(rest, lineterminator="\n").writerow(row)


def page() -> None:
    """Write the page from all rows."""
    rows = pd.read_csv(ROWS, keep_default_na=False)
    cells = (
        [*map(str, row), f"{row[3] / row[4]:.2f}"]  # type: ignore[operator]
        for row in rows[NAMES].itertuples(index=False)
    )
    write(
        __file__,
        "Convolutions of ten devices, by groups and by products of matrices",
        "Each row says its machine.",
        f"vgg as in the paper's table 3, {DEVICES} devices, batches of {BATCH}; one step, {TURNS} turns.",
        markdown([*NAMES, "ratio"], cells, "lll>>>"),
    )


if __name__ == "__main__":
    if not ROWS.exists():
        ROWS.write_text(",".join(NAMES) + "\n", encoding="utf-8")
    device, *note = sys.argv[1:] or ["cpu"]
    append(device, " ".join(note))
    page()
