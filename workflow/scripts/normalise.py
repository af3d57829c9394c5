import os

from cutlayer.data import normalised as datasets
from cutlayer.plan import plugins
from launch.logs import logged

with logged(snakemake):
    name = snakemake.wildcards.dataset
    own = plugins.home("dataset", name)
    datasets.normalise(
        name,
        own or "data/raw",
        os.environ["CUTLAYER_MIRROR"] or None,
        snakemake.params.stand_ins,
        own or "data/sources.csv",
        "data/normalised",
        *snakemake.input.record,
    )
