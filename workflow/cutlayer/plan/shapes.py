"""Base types of the models of params.yaml and paper.yaml: mappings with known keys, and kinds of values."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, model_validator

from cutlayer.core.errors import nearest

ABSENT: Any = None  # the default of a key that may be left out; null is not of its type, so to write it is an error


class Shape(BaseModel, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True):
    """Base model: only declared keys (unless `extra="allow"`), no conversion between text and numbers."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        """Raise for a misspelt key with the nearest known one, which pydantic would not name."""
        for key in given if isinstance(given, dict) and cls.model_config["extra"] == "forbid" else ():
            if key not in cls.model_fields:
                raise ValueError(f"there is no key {key!r}; {nearest(key, cls.model_fields)}")
        return given


def different(values: list[Any]) -> list[Any]:
    """Raise ValueError unless all values are distinct."""
    for place, value in enumerate(values):
        if value in values[:place]:
            raise ValueError(f"has {value!r} twice; expected each once")
    return values


AtLeast0 = Annotated[float, Field(ge=0)]
Above0 = Annotated[float, Field(gt=0)]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Positive = Annotated[int, Field(ge=1)]
Different = Annotated[list[Any], Field(min_length=1), AfterValidator(different)]
Names = Annotated[list[str], Field(min_length=1), AfterValidator(different)]
Name = Annotated[str, Field(pattern="^[a-z0-9_]+$")]  # part of a path


class Used(Shape, extra="allow"):
    """A method with its parameters."""

    use: str
