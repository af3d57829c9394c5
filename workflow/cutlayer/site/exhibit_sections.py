"""Section of an exhibit on its paper's page: our numbers beside the published ones, provenance, command to make it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from cutlayer.core import failed_cells
from cutlayer.exhibits.base import footer
from cutlayer.ledger import names
from cutlayer.reference import published

from . import hover
from .documents import MARKDOWN
from .inputs import Inputs

WIDE = '<div class="wide"><table class="sortable">'
NEWER = " This text is newer than the run: what it names and the picture lacks was not run yet."
DEFAULT = "quick"  # the scale that a command need not name
Row = Mapping[str, Any]


def sections(given: Inputs, paper: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Sections of a paper's exhibits, in the order of the paper."""
    return [_section(given, paper, name, rows) for name in given.papers[paper]["exhibits"]]


def _section(given: Inputs, paper: str, name: str, rows: Sequence[Row]) -> dict[str, Any]:
    exhibit = given.papers[paper]["exhibits"][name]
    folder = given.results / "exhibits" / paper
    table = pd.read_csv(folder / f"{name}.csv", keep_default_na=False)
    largest = max(table["scale"].unique(), key=given.scales.index)
    scale = "" if largest == DEFAULT else f" --config scale={largest}"
    own = [row for row in rows if row["exhibit"] == name]
    return {
        "name": name,
        "title": exhibit["title"],
        "caption": exhibit["caption"] + (NEWER if published.is_newer(exhibit, table) else ""),
        "numbers": [row for row in own if row["kind"] == "number" or row["published"]],
        "claims": [row for row in own if row["kind"] != "number" and not row["published"]],
        "table": _as_html((folder / f"{name}.md").read_text(encoding="utf-8"), table)
        if exhibit["draw"]["use"] == "table"
        else "",
        "hover": hover.points(given, paper, name),
        "from": footer(table.assign(n=pd.to_numeric(table["n"])), reasons=False, interval=""),
        "failed": failed_cells.listed(table),
        "command": f"snakemake --cores all results/exhibits/{paper}/{name}.png{scale}",
    }


def _as_html(written: str, table: pd.DataFrame) -> str:
    """HTML of a markdown table, with titles in place of the names of setups."""
    pairs = table[["setup", "dataset"]].drop_duplicates().itertuples(index=False, name=None)
    titles = {setup: names.of_setup(setup, dataset) for setup, dataset in pairs}
    lines = []
    for line in written.splitlines()[1:]:  # the first is the title
        start, first, following = line.partition("|")[0], *line[1:].partition("|")[::2]
        titled = titles.get(first.strip()) if line.startswith("|") and not start else None
        lines.append(f"| {titled} |{following}" if titled else line)
    html = MARKDOWN.render("\n".join(lines))
    return html.replace("<table>", WIDE).replace("</table>", "</table></div>")
