from cutlayer.core import artifacts

artifacts.join_rows(snakemake.input.parts, snakemake.output[0])
