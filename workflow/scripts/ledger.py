from cutlayer import warm

warm.up()

from cutlayer import headline, ledger
from cutlayer.logs import logged

with logged(snakemake):
    papers, tables = snakemake.params.papers, snakemake.input.cells
    ledger.write(papers, snakemake.input.published, tables, snakemake.params.scale, dict(snakemake.output.items()))
    headline.write(papers, tables, snakemake.output.claims, snakemake.output.metrics)
