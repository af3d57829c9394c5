from cutlayer.stages import priors
from launch.logs import logged

with logged(snakemake):
    priors.fit(
        snakemake.wildcards.setup,
        snakemake.params.setup,
        "data/normalised",
        snakemake.params.seeds,
        snakemake.output[0],
    )
