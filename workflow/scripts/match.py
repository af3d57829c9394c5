from cutlayer.core import devices
from cutlayer.stages import matching
from launch import notes
from launch.logs import logged

with logged(snakemake):
    reasons = matching.match(
        snakemake.wildcards.setup,
        snakemake.wildcards.defense,
        snakemake.params.setup,
        snakemake.params.defense,
        snakemake.params.attack,
        snakemake.params.rule,
        snakemake.params.evaluations,
        "data/normalised",
        snakemake.input.trained,
        snakemake.params.seeds,
        snakemake.output[0],
        devices.granted(snakemake.resources.get("gpu", 0)),
    )
    notes.record(snakemake.params.note, snakemake.params.attempt, reasons)
