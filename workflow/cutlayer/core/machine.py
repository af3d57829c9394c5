"""The machine of a run: processor and versions of packages."""

from __future__ import annotations

import platform
import time
from importlib.metadata import version
from pathlib import Path

STEPS = 3000  # about a second


def processor() -> str:
    """The processor's model name, as reported by the system."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def gpus(driver: Path = Path("/proc/driver/nvidia/gpus")) -> list[str]:
    """The models of the GPUs that the system lists."""
    texts = [file.read_text(encoding="utf-8") for file in sorted(driver.glob("*/information"))]
    lines = [line for text in texts for line in text.splitlines()]
    return [line.partition(":")[2].strip() for line in lines if line.startswith("Model")]


def versions(*packages: str) -> str:
    """The versions of Python and the named packages."""
    return ", ".join([f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in packages)])


def yardstick() -> float:
    """Seconds that a fixed training of a small network takes on one thread of this machine.

    Seconds are those of a clock, as Snakemake times jobs: what else the machine does counts in both.
    """
    import torch  # not where only versions are asked for

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    inputs, weights = torch.linspace(-1, 1, 256 * 64).reshape(256, 64), torch.eye(64, requires_grad=True)

    def train(steps: int) -> float:
        start = time.perf_counter()
        for _ in range(steps):
            (inputs @ weights).tanh().square().mean().backward()
        return time.perf_counter() - start

    train(10)  # the first steps of a process take longer
    seconds = train(STEPS)
    torch.set_num_threads(threads)
    return seconds
