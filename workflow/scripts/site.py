from pathlib import Path

from cutlayer.reference import published
from cutlayer.site import reference
from cutlayer.site.sources import Sources
from launch.logs import logged

with logged(snakemake):
    given, asked = snakemake.input, snakemake.params
    sources = Sources(
        papers=asked.papers,
        looks=asked.looks,
        scales=[asked.scale],
        hours=asked.hours,
        datasets=asked.datasets,
        results=Path("results"),
        normalised=Path("data/normalised"),
        sources=Path(given.sources[0]),
        documents=given.documents,
        pictures=given.pictures,
        code=asked.code,
        api=True,
    )
    own, beside = reference.both(sources, published.FOLDER, asked.scales)
    reference.write(own, beside, Path("results/site"), snakemake.threads)
