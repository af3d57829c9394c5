from pathlib import Path

from cutlayer.ledger import tried
from launch.logs import logged

with logged(snakemake):
    told, exhibit = snakemake.params.told, snakemake.params.exhibit
    tried.write(*told, exhibit, Path(snakemake.input.cells), Path(snakemake.output[0]))
