from pathlib import Path

from cutlayer.site import build
from launch.logs import logged

with logged(snakemake):
    given, asked = snakemake.input, snakemake.params
    sources = build.Sources(
        papers=asked.papers,
        looks=asked.looks,
        scale=asked.scale,
        hours=asked.hours,
        datasets=asked.datasets,
        results=Path("results"),
        normalised=Path("data/normalised"),
        sources=Path(given.sources),
        documents=given.documents,
        pictures=given.pictures,
    )
    build.write(sources, Path("results/site"))
