from cutlayer import warm

warm.up()

from cutlayer import devices, failures, scores
from cutlayer.logs import logged

with logged(snakemake):
    reasons = scores.score(
        *(snakemake.wildcards[name] for name in ("setup", "defense", "attack")),
        snakemake.params.protocol,
        snakemake.params.attack,
        snakemake.input.transcripts,
        snakemake.input.truths,
        snakemake.output[0],
        devices.granted(snakemake.resources.get("gpu", 0)),
    )
    failures.record(snakemake.params.note, snakemake.params.attempt, reasons)
