from cutlayer import warm

warm.up()

from cutlayer import theory
from cutlayer.logs import logged

with logged(snakemake):
    theory.measure(
        snakemake.wildcards.paper,
        snakemake.wildcards.setup,
        snakemake.wildcards.defense,
        snakemake.input.transcripts,
        snakemake.input.truths,
        snakemake.output[0],
    )
