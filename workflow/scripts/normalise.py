import os

from cutlayer.data import normalised as datasets
from launch.logs import logged

with logged(snakemake):
    datasets.normalise(
        snakemake.wildcards.dataset,
        "data/raw",
        os.environ["CUTLAYER_MIRROR"] or None,
        snakemake.params.stand_ins,
        snakemake.input.sources,
        "data/normalised",
        snakemake.params.asked,
    )
