"""Where tensors live: on the GPU that a job was granted, else on the CPU.

Random numbers are drawn on the CPU and moved, so that a run on a GPU sees the same ones; results then differ by
rounding only. Models and data are moved once, before the first step.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch


def granted(gpus: int) -> str:
    """The device of a job that was granted this many GPUs; said in its log.

    A GPU that torch cannot use is said too, and the CPU taken: a cluster may grant one to a job whose environment
    has no CUDA.
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
    """What torch draws within on the CPU, such as first weights, comes from this seed; later draws are as without it.

    `torch.manual_seed` would seed every kind of device there is, and keep the stack of the call for those not started.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        yield


def randn(shape: tuple[int, ...], generator: torch.Generator, device: str, dtype: torch.dtype) -> torch.Tensor:
    """Standard normal numbers, the same on every device."""
    return torch.randn(shape, generator=generator, dtype=dtype).to(device)
