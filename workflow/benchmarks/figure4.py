"""Figure 4 at paper scale, timed: `python workflow/benchmarks/figure4.py [cores]`.

Works in a copy of the checkout, so that results there are left alone. Data come as for any run.
"""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from machine import machine
from table import markdown, write

from cutlayer.ledger import cells, claims
from cutlayer.ledger.readable import readable
from cutlayer.plan import families

ROOT = Path(__file__).parents[2]
FIGURE = "results/exhibits/chebyshev/figure4.csv"
PAPER = ("bank", "robot", "satellite", "synthetic")


def run(folder: Path, cores: str) -> float:
    """Seconds from nothing to the figure's csv."""
    for part in ("Snakefile", "params.yaml", "rules", "envs", "workflow", "data/sources.csv"):
        target = folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
        copy(ROOT / part, target)
    start = time.perf_counter()
    command = [sys.executable, "-m", "snakemake", "--quiet", "--cores", cores, "--scheduler", "greedy", FIGURE]
    subprocess.run([*command, "--config", "scale=paper"], cwd=folder, check=True)
    return time.perf_counter() - start


def attack_seconds(folder: Path, attack: str) -> float:
    """Seconds of one core that an attack took on the paper's four datasets, all seeds."""
    files = [folder / f"logs/attack/{setup}/none/{attack}.benchmark.tsv" for setup in PAPER]
    return sum(float(next(csv.DictReader(file.open(encoding="utf-8"), delimiter="\t"))["s"]) for file in files)


def problems(folder: Path) -> int:
    """How many (prediction, window, seed) problems each attack solved on the paper's four datasets."""
    files = [folder / f"results/scores/{setup}/none/rcc1.csv" for setup in PAPER]
    return sum(int(row["predictions"]) for file in files for row in csv.DictReader(file.open(encoding="utf-8")))


def reference() -> float:
    """Milliseconds a cvxpy solve of rcc1 takes on average over the drawn cases of polytope.py."""
    lines = (ROOT / "workflow/benchmarks/polytope.md").read_text(encoding="utf-8").splitlines()
    cells = [line.split("|") for line in lines if line.startswith("| normal")]
    seconds = [float(cell[9].split()[0]) for cell in cells]  # of a loop over 1,000 predictions
    return sum(seconds) / len(seconds)


def verdicts(folder: Path) -> str:
    """The paper's claims on figure 4 at its scale, judged like any others."""
    paper_folder = ROOT / "workflow/papers/chebyshev"
    paper = families.read(paper_folder, "chebyshev")
    own = {
        "datasets": paper["datasets"],
        "claims": {name: claim for name, claim in paper["claims"].items() if claim["check"]["exhibit"] == "figure4"},
        "numbers": [entry for entry in paper["numbers"] if entry["check"]["exhibit"] == "figure4"],
    }
    found = {"figure4": cells.load(folder / "results/cells/chebyshev/figure4.csv")}
    table = claims.judge("chebyshev", own, pd.read_csv(paper_folder / "published.csv"), found, claims.Scale("paper"))
    shown = ["item", "statement", "setup", "published", "ours", "interval", "verdict"]
    return markdown(shown, readable(table)[shown].itertuples(index=False), "l" * len(shown))


if __name__ == "__main__":
    cores = sys.argv[1] if len(sys.argv) > 1 else "2"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seconds = run(folder, cores)
        shutil.copy(folder / FIGURE, Path(__file__).with_name("figure4.csv"))
        shutil.copy(folder / FIGURE.replace("csv", "png"), Path(__file__).with_name("figure4.png"))
        judged = verdicts(folder)
        solved, spent = problems(folder), attack_seconds(folder, "rcc1")
    hours = solved * reference() / 1000 / 3600
    text = f"""\
All windows, all d, ten attacks, N = 1,000, five seeds, the paper's four datasets and the three bundled ones:
**{seconds / 60:.1f} minutes** on {cores} cores from nothing to `figure4.csv`, data and training included.

rcc1 alone solved {solved:,} semidefinite programs on the paper's datasets in {spent / 60:.1f} minutes of one core,
{1000 * spent / solved:.3f} ms each. A cvxpy call each (DPP, the faster of two solvers, default accuracy), at the
{reference():.1f} ms that [polytope.md](polytope.md) measured on average, on its own machine, would take {hours:.1f}
hours of one core.

![figure 4 at paper scale](figure4.png)

## Verdicts on figure 4 at the paper's scale

{judged}"""
    write(__file__, "Figure 4 at paper scale", machine("numpy", "scipy", "torch", "snakemake"), text)
