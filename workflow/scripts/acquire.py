import os

from cutlayer.data.acquire import record
from launch.logs import logged

with logged(snakemake):
    mirror = os.environ["CUTLAYER_MIRROR"] or None
    record(
        snakemake.output[0],
        "data/raw",
        mirror,
        snakemake.params.stand_ins,
        "data/sources.csv",
        snakemake.params.acquisitions,
    )
