from cutlayer.core.files import replacing
from cutlayer.data import normalised as datasets
from launch.logs import logged

with logged(snakemake), replacing(snakemake.output[0]) as temporary:
    table = datasets.describe("data/normalised", snakemake.params.datasets)
    temporary.write_text(table.to_markdown(index=False) + "\n")
