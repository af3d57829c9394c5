"""What the models of params.yaml and paper.yaml are made of: mappings whose keys are known, and kinds of values."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, model_validator

from cutlayer.core.errors import nearest

ABSENT: Any = None  # the default of a key that may be left out; null is not of its type, so to write it is an error


class Shape(BaseModel, strict=True, extra="forbid", allow_inf_nan=False, defer_build=True):
    """A mapping with these keys and no other (`extra="allow"`: others too); text is no number, and a number no text."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: Any) -> Any:
        """Raise for a misspelt key, which pydantic would refuse without its near miss."""
        for key in given if isinstance(given, dict) and cls.model_config["extra"] == "forbid" else ():
            if key not in cls.model_fields:
                raise ValueError(f"there is no key {key!r}; {nearest(key, cls.model_fields)}")
        return given


def different(values: list[Any]) -> list[Any]:
    """Raise unless each value is there once."""
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
    """A method and its parameters."""

    use: str
