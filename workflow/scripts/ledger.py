from cutlayer import ledger
from cutlayer.logs import logged

with logged(snakemake):
    ledger.write(
        snakemake.params.papers,
        snakemake.input.published,
        snakemake.input.cells,
        snakemake.params.scale,
        dict(snakemake.output.items()),
    )
