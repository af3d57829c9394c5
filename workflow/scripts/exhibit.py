from cutlayer.stages import exhibits
from launch.logs import logged

with logged(snakemake):
    name = snakemake.wildcards.paper, snakemake.wildcards.exhibit
    inputs, files = dict(snakemake.input.items()), dict(snakemake.output.items())
    given = snakemake.params
    exhibits.draw(name, given.exhibit, given.beside, inputs, files)
