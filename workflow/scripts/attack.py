from cutlayer.core import devices
from cutlayer.stages import scores
from launch import notes
from launch.logs import logged

with logged(snakemake):
    reasons = scores.score(
        snakemake.wildcards.setup,
        snakemake.wildcards.defense,
        snakemake.params.protocol,
        snakemake.params.attacks,
        snakemake.input.transcripts,
        snakemake.input.truths,
        snakemake.params.seeds,
        snakemake.output,
        devices.granted(snakemake.resources.get("gpu", 0)),
    )
    notes.record(snakemake.params.note, snakemake.params.attempt, reasons)
