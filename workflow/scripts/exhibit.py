from cutlayer.ledger import cells
from cutlayer.plan import plugins
from launch.logs import logged

with logged(snakemake):
    exhibit, names = snakemake.params.exhibit, snakemake.wildcards
    table = cells.summarize(cells.load(snakemake.input.cells), names.paper, names.exhibit, snakemake.params.scale)
    options = {key: value for key, value in exhibit["draw"].items() if key != "use"}
    drawing = plugins.create("exhibit", exhibit["draw"]["use"], options)
    drawing.draw(table, f"{names.paper} {names.exhibit}: {exhibit['title']}", dict(snakemake.output.items()))
    cells.write(table, snakemake.output.csv)
