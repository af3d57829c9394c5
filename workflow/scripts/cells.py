from cutlayer.ledger import cells
from launch.logs import logged

with logged(snakemake):
    given = snakemake.params
    table = cells.gather(snakemake.input.tables, "data/normalised", given.setups, given.exhibit)
    cells.write(table.assign(scale=given.scale), snakemake.output[0])
