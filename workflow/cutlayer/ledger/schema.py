"""JSON schemas of the ledger's rows (claims.csv, and the same as the site's rows.json), and of cells, a row per seed.

A number that a row has not is null, in the csv blank; any other text is blank.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .claims import KINDS
from .verdicts import ORDER

TEXT, NUMBER, COUNT = {"type": "string"}, {"type": ["number", "null"]}, {"type": "integer", "minimum": 0}
ABOUT: dict[str, tuple[dict[str, Any], str]] = {
    "paper": ({"type": "string", "minLength": 1}, "The paper."),
    "kind": ({"enum": KINDS}, "A published number, a claim of the paper, or a statement of ours."),
    "item": ({"type": "string", "minLength": 1}, "Name of the table, figure or claim in paper.yaml."),
    "place": (TEXT, "Where the paper says it."),
    "exhibit": (TEXT, "The exhibit whose cells are judged; blank if none is."),
    "statement": ({"type": "string", "minLength": 1}, "What is judged, in words."),
    "setup": (TEXT, "The setup, or several with commas between; blank if there is none."),
    "dataset": (TEXT, "The dataset, or all."),
    "provenance": ({"enum": ["real", "sample", "synthetic", "stand-in", ""]}, "Where the data are from."),
    "scale": (TEXT, "The scale of all that the row compares."),
    "size": (TEXT, "full, or what is reduced."),
    "seeds": (COUNT, "The number of seeds; 0 for a fact of the data."),
    "published": (NUMBER, "The published value."),
    "tolerance": (NUMBER, "How far ours may be from it."),
    "ours": (NUMBER, "Our value."),
    "low": (NUMBER, "Lower end of its 95% interval."),
    "high": (NUMBER, "Upper end of its 95% interval."),
    "difference": (NUMBER, "Ours less the published value, without its sign."),
    "threshold": (TEXT, "The limit of the check, as text."),
    "rule": (TEXT, "What the check means, in words."),
    "verdict": ({"enum": [*ORDER]}, "The verdict; docs/ledger_explained.md lists all."),
    "why": (TEXT, "One sentence that explains it."),
    "defense": (TEXT, "The defenses that are compared."),
    "attack": (TEXT, "The attacks that are compared."),
    "defended": ({"enum": ["yes", "no", ""]}, "Whether a defense acts in what is judged."),
    "p": (NUMBER, "P-value of the verdict."),
    "alone": ({"enum": ["yes", ""]}, "yes: not when all setups of the claim are judged at once (Holm)."),
    "reading": (TEXT, "The reading of the text under which it is judged, where there are several."),
    "folded": (NUMBER, "The leak as an AUC that is at least 1/2, where the paper takes it as it is scored."),
}
CELLS: dict[str, tuple[dict[str, Any], str]] = {
    "setup": (ABOUT["setup"][0], "The setup."),
    "dataset": (TEXT, "Its dataset."),
    "provenance": (ABOUT["provenance"][0], "Where the data are from."),
    "features": (COUNT, "The number of features."),
    "defense": (TEXT, "The defense; blank for a fact of the data."),
    "setting": (TEXT, "The setting of the defense; blank if it has one."),
    "attack": (TEXT, "The attack, or the set of which `by` is the strongest; blank for what a run says of itself."),
    "metric": (TEXT, "The metric; blank if there is none, see `skipped`."),
    "seed": ({"type": "integer", "minimum": -1}, "The seed; -1 for a fact of the data."),
    "value": (NUMBER, "The value of the metric, a mean over cases."),
    "n": ({"type": "number", "minimum": 0}, "The number of predictions that the attack had; 0 if it had none."),
    "cases": (COUNT, "The number of cases."),
    "skipped": (TEXT, "Why there is no value."),
    "tested": ({"type": "number", "minimum": 0}, "The number of tested rows; 0 if unknown."),
    "chance": (NUMBER, "The value of a guess that knows nothing."),
    "error": (NUMBER, "The standard error of the value by the tested rows alone."),
    "few": (NUMBER, "The number of tested rows of the rarer class."),
    "by": (TEXT, "The attack that was chosen from the set, on other seeds."),
    "scale": (TEXT, "The scale."),
    "run": (COUNT, "The run, a row of runs.csv; results of your own have no such column."),
}
SOME = {"few", "by", "run"}  # columns that not all cells have
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def rows(**more: str) -> dict[str, Any]:
    """The schema of a list of rows; `more` are columns of text that they have besides, each with its description."""
    columns = ABOUT | {name: (TEXT, said) for name, said in more.items()}
    return _table("Rows of cutlayer's ledger", columns, [*columns], False)


def cells() -> dict[str, Any]:
    """The schema of a list of cells; the one more column that each exhibit's have is its axis, a number."""
    required = [name for name in CELLS if name not in SOME]
    return _table("Cells of an exhibit of cutlayer, a row per seed", CELLS, required, NUMBER)


def _table(
    title: str, columns: Mapping[str, tuple[dict[str, Any], str]], required: list[str], rest: Any
) -> dict[str, Any]:
    row = {
        "type": "object",
        "properties": {name: kind | {"description": said} for name, (kind, said) in columns.items()},
        "required": required,
        "additionalProperties": rest,
    }
    return {"$schema": DIALECT, "title": title, "type": "array", "items": row}
