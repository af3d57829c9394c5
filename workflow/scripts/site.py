from pathlib import Path

from cutlayer.reference import published
from cutlayer.site import side_by_side
from cutlayer.site.inputs import Inputs
from launch.logs import logged

with logged(snakemake):
    given, params = snakemake.input, snakemake.params
    sources = Inputs(
        papers=params.papers,
        styles=params.styles,
        scales=[params.scale],
        datasets=params.datasets,
        results=Path("results"),
        normalised=Path("data/normalised"),
        sources=Path(given.sources[0]),
        documents=given.documents,
        pictures=given.pictures,
        code=params.code,
        variants=params.variants,
        api=True,
    )
    own, reference_inputs = side_by_side.both(sources, published.FOLDER, params.scales)
    side_by_side.write(own, reference_inputs, Path("results/site"), snakemake.threads)
