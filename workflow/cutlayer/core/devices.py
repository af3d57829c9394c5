"""The device of a job: the GPU that it was granted, else the CPU; and device-independent random numbers.

Random numbers are drawn on the CPU and moved, so that a run on a GPU has the same ones; results then differ by
rounding only. Models and data are moved once, before the first step.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch


def granted(gpus: int) -> str:
    """The device of a job that was granted this many GPUs; it is reported in the log.

    If torch cannot use the GPU, the log reports it and the CPU is used: a cluster may grant a GPU to a job whose
    environment has no CUDA.
    """
    if not gpus:
        return "cpu"
    if torch.cuda.is_available():
        torch.backends.cudnn.allow_tf32 = False  # convolutions in 32 bits, as on a CPU
        print(f"device: {torch.cuda.get_device_name(0)}", file=sys.stderr)
        return "cuda"
    print("device: cpu; a GPU was granted, but torch finds none (no CUDA build, or no driver)", file=sys.stderr)
    return "cpu"


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Context in which torch's draws on the CPU, such as initial weights, come from this seed, and only these.

    `torch.manual_seed` would seed all kinds of devices, and keep the call's stack for those that are not started.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


def randn(shape: tuple[int, ...], generator: torch.Generator, device: str, dtype: torch.dtype) -> torch.Tensor:
    """Standard normal numbers, the same on every device."""
    return torch.randn(shape, generator=generator, dtype=dtype).to(device)
