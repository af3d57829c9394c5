from cutlayer.ledger import claims, headline
from cutlayer.ledger import page as ledger
from launch.logs import logged

with logged(snakemake):
    papers, tables = snakemake.params.papers, snakemake.input.cells
    scale = claims.Scale(**snakemake.params.scale)
    ledger.write(papers, snakemake.input.published, tables, scale, dict(snakemake.output.items()))
    headline.write(papers, tables, snakemake.output.claims, snakemake.output.metrics)
