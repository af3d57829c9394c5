from cutlayer import warm

warm.up()

from cutlayer import cells
from cutlayer.logs import logged

with logged(snakemake):
    table = cells.gather(snakemake.input.tables, "data/normalised", snakemake.params.setups, snakemake.params.exhibit)
    cells.write(table, snakemake.output[0])
