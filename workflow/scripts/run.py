from cutlayer.core import devices
from cutlayer.stages import runs
from launch import notes
from launch.logs import logged

with logged(snakemake):
    reasons = runs.execute(
        snakemake.wildcards.setup,
        snakemake.wildcards.defense,
        snakemake.params.setup,
        snakemake.params.defense,
        "data/normalised",
        snakemake.input.trained,
        snakemake.output.utility,
        snakemake.params.seeds,
        devices.granted(snakemake.resources.get("gpu", 0)),
        snakemake.input.prior,
    )
    notes.record(snakemake.params.note, snakemake.params.attempt, reasons)
