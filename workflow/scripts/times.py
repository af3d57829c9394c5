from cutlayer import warm

warm.up()

from cutlayer import times
from cutlayer.logs import logged

with logged(snakemake):
    times.measure(
        snakemake.wildcards.setup,
        snakemake.params.setup,
        snakemake.params.defenses,
        "data/normalised",
        snakemake.params.seeds,
        snakemake.output[0],
    )
