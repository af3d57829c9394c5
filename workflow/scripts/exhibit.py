from cutlayer.stages import drawing
from launch.logs import logged

with logged(snakemake):
    name = snakemake.wildcards.paper, snakemake.wildcards.exhibit
    inputs, files = dict(snakemake.input.items()), dict(snakemake.output.items())
    given = snakemake.params
    drawing.draw(name, given.exhibit, given.options, inputs, files)
