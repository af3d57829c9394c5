from cutlayer.stages import vulnerable
from launch.logs import logged

with logged(snakemake):
    vulnerable.find(
        snakemake.wildcards.setup,
        snakemake.wildcards.defense,
        snakemake.params.protocol,
        snakemake.params.attacks,
        snakemake.input.transcripts,
        snakemake.input.truths,
        snakemake.params.seeds,
        snakemake.output[0],
    )
