from cutlayer.ledger import claims, files, headline
from launch.logs import logged

with logged(snakemake):
    papers, tables = snakemake.params.papers, snakemake.input.cells
    scale = claims.Scale(**snakemake.params.scale)
    files.write(papers, snakemake.input.published, tables, [scale], dict(snakemake.output.items()))
    headline.write(papers, tables, snakemake.output.metrics, scale.absent)
