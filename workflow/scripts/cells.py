from cutlayer.ledger import cells
from launch.logs import logged

with logged(snakemake):
    table = cells.gather(snakemake.input.tables, "data/normalised", snakemake.params.setups, snakemake.params.exhibit)
    cells.write(table, snakemake.output[0])
