from pathlib import Path

from cutlayer import runs
from cutlayer.logs import logged

with logged(snakemake):
    runs.execute(
        snakemake.wildcards.setup,
        snakemake.wildcards.defense,
        snakemake.params.setup,
        snakemake.params.defense,
        "data/normalised",
        snakemake.input.trained,
        Path(snakemake.output.utility).parent,
        snakemake.params.seeds,
    )
