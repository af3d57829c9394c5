"""Do the seeds of one setup train faster together, and images in another layout? Measured against a loop over seeds.

Run `python workflow/benchmarks/seeds_together.py [note]`; it prints a table and writes it beside this file, with the
note. A step is forward, backward and Adam of a whole model, bottom and top, on a batch of its own for each seed, on
one thread. `vmap` stacks the models with torch.func.stack_module_state; `channels last` and `no oneDNN` are the loop
with another memory layout and with PyTorch's own convolutions. All compute the same up to rounding; how far apart the
losses are after all steps is in the table. Ways take turns in random order.
"""

from __future__ import annotations

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from machine import machine
from table import markdown, write
from torch.func import functional_call, grad_and_value, replace_all_batch_norm_modules_, stack_module_state, vmap
from torch.nn.functional import cross_entropy

from cutlayer.games.base.model import Inputs
from cutlayer.plan import plugins

SEEDS, ROUNDS, WARM_UP, STEPS, RATE = 5, 12, 2, 3, 1e-3
PAYS = 1.3  # times as fast; fixed before anything was measured
IMAGES = {"numeric": [], "categorical": [], "scale": 255.0}
COLUMNS = Inputs([13], list(range(13)), [], 1.0, center=[0.0] * 13, spread=[1.0] * 13, levels=[])
# model, its parameters, what it sees, rows a batch
CASES: dict[str, tuple[str, dict[str, Any], Inputs, int]] = {
    "mlp, adult, paper": ("mlp", {"width": 64}, COLUMNS, 256),
    "cnn, mnist, quick": ("cnn", {"width": 32, "channels": 8, "shrink": 2}, Inputs([1, 28, 28], **IMAGES), 32),
    "cnn, cifar10, quick": ("cnn", {"width": 32, "channels": 8, "shrink": 2}, Inputs([3, 32, 32], **IMAGES), 32),
    "cnn, mnist, reference": ("cnn", {"width": 64, "channels": 16}, Inputs([1, 28, 28], **IMAGES), 64),
    "cnn, mnist, paper": ("cnn", {"width": 128, "channels": 32}, Inputs([1, 28, 28], **IMAGES), 128),
    "strided_cnn, celeba, quick": ("strided_cnn", {"channels": 8, "shrink": 4}, Inputs([3, 64, 64], **IMAGES), 32),
    "strided_cnn, celeba, reference": ("strided_cnn", {"channels": 16}, Inputs([3, 64, 64], **IMAGES), 64),
    "strided_cnn, celeba, paper": ("strided_cnn", {"channels": 32}, Inputs([3, 64, 64], **IMAGES), 256),
}
Step = Callable[[], np.ndarray]


class Whole(torch.nn.Module):
    """Both parts of a model, and the loss of a batch."""

    def __init__(self, model: Any, inputs: Inputs) -> None:
        super().__init__()
        self.bottom, self.top = model.bottom(inputs), model.top(inputs, 2)
        replace_all_batch_norm_modules_(self)  # no running moments, which vmap cannot keep

    def forward(self, x: dict[str, torch.Tensor], labels: torch.Tensor) -> torch.Tensor:
        """The mean loss of encoded rows."""
        return cross_entropy(self.top(self.bottom(x)[1], x), labels)


def wholes(model: Any, inputs: Inputs) -> list[Whole]:
    """A model for each seed."""
    found = []
    for seed in range(SEEDS):
        torch.manual_seed(seed)
        found.append(Whole(model, inputs).to(memory_format=torch.contiguous_format))
    return found


def batches(model: Any, inputs: Inputs, rows: int) -> list[tuple[dict[str, torch.Tensor], torch.Tensor]]:
    """A batch of random rows and labels for each seed."""
    drawn = []
    for seed in range(SEEDS):
        random = np.random.default_rng(seed)
        images = len(inputs.shape) == 3
        features = (
            random.integers(0, 256, (rows, *inputs.shape)) if images else random.normal(size=(rows, *inputs.shape))
        )
        kind = np.uint8 if images else np.float32
        x = {name: values.contiguous() for name, values in model.encode(features.astype(kind), inputs).items()}
        drawn.append((x, torch.from_numpy(random.integers(0, 2, rows))))
    return drawn


def loop(models: list[Whole], drawn: list[tuple[dict[str, torch.Tensor], torch.Tensor]]) -> Step:
    """One seed after the other."""
    optimizers = [torch.optim.Adam(each.parameters(), RATE, fused=True) for each in models]

    def step() -> np.ndarray:
        losses = []
        for each, optimizer, (x, labels) in zip(models, optimizers, drawn, strict=True):
            optimizer.zero_grad()
            loss = each(x, labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return np.array(losses)

    return step


def stacked(models: list[Whole], drawn: list[tuple[dict[str, torch.Tensor], torch.Tensor]]) -> Step:
    """All seeds as one batch of models."""
    values, buffers = stack_module_state(models)  # type: ignore[arg-type]
    optimizer = torch.optim.Adam(values.values(), RATE, fused=True)
    x = {name: torch.stack([rows[name] for rows, _ in drawn]) for name in drawn[0][0]}
    labels = torch.stack([own for _, own in drawn])

    def loss(own: Any, kept: Any, rows: Any, truth: torch.Tensor) -> torch.Tensor:
        return functional_call(models[0], (own, kept), (rows, truth))

    every = vmap(grad_and_value(loss))

    def step() -> np.ndarray:
        gradients, losses = every(dict(values), buffers, x, labels)
        for name, value in values.items():
            value.grad = gradients[name]
        optimizer.step()
        return losses.detach().numpy()

    return step


def channels_last(models: list[Whole], drawn: list[tuple[dict[str, torch.Tensor], torch.Tensor]]) -> Step:
    """The loop, with the channels of an image side by side in memory."""
    way = torch.channels_last
    images = [({"images": x["images"].contiguous(memory_format=way)}, labels) for x, labels in drawn]
    return loop([each.to(memory_format=way) for each in models], images)


def without_onednn(models: list[Whole], drawn: list[tuple[dict[str, torch.Tensor], torch.Tensor]]) -> Step:
    """The loop, with PyTorch's own convolutions."""
    inner = loop(models, drawn)

    def step() -> np.ndarray:
        with torch.backends.mkldnn.flags(enabled=False):
            return inner()

    return step


WAYS = {"loop": loop, "vmap": stacked, "channels last": channels_last, "no oneDNN": without_onednn}


def measured(name: str, parameters: dict[str, Any], inputs: Inputs, rows: int) -> Iterator[list[str]]:
    """Milliseconds of a step of all seeds in each way, and how much faster than the loop."""
    model = plugins.create("model", name, parameters)
    ways = [way for way in WAYS if way in ("loop", "vmap") or len(inputs.shape) == 3]
    steps = {way: WAYS[way](wholes(model, inputs), batches(model, inputs, rows)) for way in ways}
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    last: dict[str, np.ndarray] = {}
    order = np.random.default_rng(0)
    for _ in range(WARM_UP + ROUNDS):
        for way in order.permutation(ways):
            start = time.process_time()
            for _ in range(STEPS):
                last[way] = steps[way]()
            seconds[way].append((time.process_time() - start) / STEPS)
    loops = np.array(seconds["loop"][WARM_UP:])
    for way in ways:
        own = np.array(seconds[way][WARM_UP:])
        ratio = loops / own
        low, middle, high = np.quantile(ratio, [0.25, 0.5, 0.75])
        apart = np.abs(last[way] - last["loop"]).max()
        yield [way, f"{np.median(own) * 1e3:.1f}", f"{middle:.2f}", f"{low:.2f} to {high:.2f}", f"{apart:.0e}"]


def rows() -> Iterator[list[str]]:
    """The table's rows."""
    for case, said in CASES.items():
        for row in measured(*said):
            yield [case, *row]


def main(note: str) -> None:
    """Write the table."""
    columns = ["model, data, scale's sizes", "way", "ms a step of all", "times as fast", "middle half", "losses apart"]
    write(
        __file__,
        "The seeds of a setup trained together, and images in another layout",
        machine("torch", "numpy") + " One thread, processor time." + (f" {note}" if note else ""),
        f"{SEEDS} seeds; {ROUNDS} rounds of {STEPS} steps a way, medians; random rows. More than {PAYS} times pays.",
        markdown(columns, rows(), "ll>>l>"),
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(" ".join(sys.argv[1:]))
