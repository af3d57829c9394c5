from cutlayer.core.files import replacing
from cutlayer.data import normalised as datasets
from launch.logs import logged

with logged(snakemake), replacing(snakemake.output[0]) as temporary:
    table = datasets.describe("data/normalised", snakemake.params.datasets)
    notes = [f"- {name}: {note}\n" for name, note in zip(table["dataset"], table.pop("note"), strict=True) if note]
    temporary.write_text(f"{table.to_markdown(index=False)}\n\n{''.join(notes)}", encoding="utf-8")
