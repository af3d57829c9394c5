"""JSON schemas of params.yaml and paper.yaml, from the models that check them, for editors; of claims.csv and of cells.

    python -m cutlayer.plan.schemas workflow/schemas

writes them into a folder. The first line of a YAML file names its schema: editors then complete and check its keys.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from .paper_model import IN_LINES, Claim, Exhibit, Number, Written
from .params_model import Params
from .shapes import Shape

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLACEHOLDER = {"type": "string", "pattern": r"^\{[^{}]*\}$"}  # a list or a number may come in its place
SECTIONS: dict[str, type[Shape]] = {"exhibits": Exhibit, "claims": Claim, "numbers": Number}

Json = dict[str, Any]


class _Generator(GenerateJsonSchema):
    """Without the default null: it stands for a key that may be left out, and nobody may write it."""

    def default_schema(self, schema: Any) -> Json:
        made = super().default_schema(schema)
        return {key: value for key, value in made.items() if (key, value) != ("default", None)}


def params() -> Json:
    """Schema of params.yaml."""
    return {"$schema": DIALECT} | _of(Params)


def paper() -> Json:
    """The schema of a paper.yaml as written: an entry may have any key of what it becomes, and needs none."""
    schema = _of(Written)
    for section, model in SECTIONS.items():
        whole, listed = _of(model), schema["properties"][section]
        schema["$defs"] = whole.pop("$defs") | schema["$defs"]
        each = listed["items" if "items" in listed else "additionalProperties"]
        written = schema["$defs"][each["$ref"].rpartition("/")[2]]
        keys = {
            key: {"anyOf": [value, PLACEHOLDER]} for key, value in whole["properties"].items() if key not in IN_LINES
        }
        schema["$defs"][model.__name__] = written | {"properties": keys | written["properties"]}
        each["$ref"] = f"#/$defs/{model.__name__}"
    return {"$schema": DIALECT} | schema


def _of(model: type[Shape]) -> Json:
    return model.model_json_schema(schema_generator=_Generator)


def texts() -> dict[str, str]:
    """The files, by their names."""
    from cutlayer.ledger import schema  # which imports pandas

    schemas = {"params": params(), "paper": paper(), "claims": schema.rows(), "cells": schema.cells()}
    return {f"{name}.schema.json": json.dumps(schema, indent=1) + "\n" for name, schema in schemas.items()}


if __name__ == "__main__":
    for name, text in texts().items():
        Path(sys.argv[1], name).write_text(text, encoding="utf-8")
