from cutlayer.stages import theory
from launch.logs import logged

with logged(snakemake):
    theory.measure(
        snakemake.wildcards.paper,
        snakemake.wildcards.setup,
        snakemake.wildcards.defense,
        snakemake.input.transcripts,
        snakemake.input.truths,
        snakemake.params.seeds,
        snakemake.output[0],
    )
