from cutlayer import warm

warm.up()

from cutlayer import datasets
from cutlayer.artifacts import replacing
from cutlayer.logs import logged

with logged(snakemake), replacing(snakemake.output[0]) as temporary:
    table = datasets.describe("data/normalised", snakemake.params.datasets)
    temporary.write_text(table.to_markdown(index=False) + "\n")
