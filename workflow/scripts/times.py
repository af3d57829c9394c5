from cutlayer.stages import times
from launch.logs import logged

with logged(snakemake):
    times.measure(
        snakemake.wildcards.setup,
        snakemake.params.setup,
        snakemake.params.defenses,
        "data/normalised",
        snakemake.params.seeds,
        snakemake.output[0],
    )
