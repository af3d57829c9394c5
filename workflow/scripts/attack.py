from cutlayer.core import devices
from cutlayer.stages import scores
from launch import notes
from launch.logs import logged

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
    notes.record(snakemake.params.note, snakemake.params.attempt, reasons)
