from cutlayer.ledger import headline
from cutlayer.ledger import page as ledger
from launch.logs import logged

with logged(snakemake):
    papers, tables = snakemake.params.papers, snakemake.input.cells
    ledger.write(papers, snakemake.input.published, tables, snakemake.params.scale, dict(snakemake.output.items()))
    headline.write(papers, tables, snakemake.output.claims, snakemake.output.metrics)
