from cutlayer import scores
from cutlayer.logs import logged

with logged(snakemake):
    scores.score(
        *(snakemake.wildcards[name] for name in ("setup", "defense", "attack")),
        snakemake.params.protocol,
        snakemake.params.attack,
        snakemake.input.transcripts,
        snakemake.input.truths,
        snakemake.output[0],
    )
