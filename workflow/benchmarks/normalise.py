"""What it costs to turn the original files of each dataset into normalised data: processor, memory, disk.

`CUTLAYER_MIRROR=<folder> python workflow/benchmarks/normalise.py`. Every dataset is normalised whole, as for all
scales, in a Python of its own, from a mirror into a temporary folder: copy, checksum, decoding, checks and writing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from machine import machine
from table import markdown, write

from cutlayer.data.sources import local_files
from cutlayer.plan import plugins

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "data/sources.csv"
MB = 2**20
COLUMNS = ["dataset", "version", "rows", "processor (s)", "peak of memory (MB)", "raw (MB)", "normalised (MB)"]
MEASURED = """
import json, sys, time
import numpy, pandas, PIL.Image, safetensors.numpy  # not what is measured
from cutlayer.data.normalised import facts, normalise
name, folder, mirror, sources = sys.argv[1:]
start = time.process_time()
normalise(name, f"{folder}/raw", mirror, False, sources, f"{folder}/n")
seconds = time.process_time() - start
# of this program alone: ru_maxrss starts at the peak of the process that started it
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(json.dumps({"seconds": seconds, "peak": int(peak) / 1024, "facts": facts(f"{folder}/n", name)}))
"""


def measured(name: str, mirror: str) -> list[Any]:
    """The row of a dataset."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, "-c", MEASURED, name, folder, mirror, str(SOURCES)]
        done = subprocess.run(arguments, capture_output=True, encoding="utf-8", check=True)
        found = json.loads(done.stdout)
        sizes = [_size(Path(folder, place)) for place in ("raw", "n")]
    about = found["facts"]
    return [
        name, about["version"], f"{about['rows']:,}", f"{found['seconds']:.1f}", f"{found['peak']:.0f}",
        *(f"{size:.1f}" for size in sizes),
    ]  # fmt: skip


def _size(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / MB


def main(mirror: str) -> None:
    """Write the table."""
    names = [name for name in plugins.names("dataset") if local_files(name, "nowhere", mirror, SOURCES)]
    write(
        __file__,
        "What it costs to normalise each dataset",
        machine("numpy", "pandas", "pillow", "safetensors"),
        markdown(COLUMNS, (measured(name, mirror) for name in names), "ll>>>>>"),
    )


if __name__ == "__main__":
    main(os.environ["CUTLAYER_MIRROR"])
