from pathlib import Path

from cutlayer.ledger import tried
from launch.logs import logged

with logged(snakemake):
    subject, exhibit = snakemake.params.subject, snakemake.params.exhibit
    tried.write(*subject, exhibit, Path(snakemake.input.cells), Path(snakemake.output[0]))
