"""What a paper.yaml may say."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from cutlayer.core.errors import nearest

from .shapes import ABSENT, AtLeast0, Different, Fraction, Name, Names, Shape, Used, different

Selection = dict[str, str | float | list[Any]]  # column -> what its cells hold
Selections = Selection | Annotated[list[Selection], Field(min_length=1)]
Column = Literal["item", "dataset", "target", "method", "metric"]  # of published.csv, which together name a number
Published = Annotated[dict[Column, str | Names], Field(min_length=1)]  # selects rows of it
ALONE = {"value", "largest", "slope"}  # statistics of `left` alone
TRADED = {"leak", "utility"}  # what a trade-off is between
OF_LISTS = {"value", "gap", "share_below"}  # statistics of several selections, of which the least or greatest counts


class Choose(Shape):
    """Of a defense's settings the one with the best utility within a leak."""

    utility: str
    attack: str
    leak: str
    within: AtLeast0


class Match(Shape):
    """The leak that the strength of each defense is tuned to."""

    attack: str
    leak: str
    utility: str
    targets: Annotated[list[Fraction], Field(min_length=1), AfterValidator(different)]
    tolerance: Fraction


class Exhibit(Shape):
    """A table or figure: its grid, and how it is drawn."""

    title: str
    caption: str
    setups: Names
    defenses: Literal["all"] | Names = ABSENT
    attacks: Literal["all"] | Names = ABSENT
    sources: Annotated[
        list[Literal["scores", "utility", "theory", "times", "data", "grids", "matches"]], Field(min_length=1)
    ] = ABSENT
    metrics: Names = ABSENT
    settings: Names = ABSENT
    along: str = ABSENT
    attacked_in: dict[str, str] = ABSENT
    choose: Choose = ABSENT
    match: Match = ABSENT
    printed: Names = ABSENT
    draw: Used


class Check(Shape):
    """A statistic of selected cells, and the bounds of its interval."""

    exhibit: str
    statistic: Literal["value", "largest", "gap", "largest_gap", "share_below", "ratio", "slope", "hypervolume"]
    left: Selections
    right: Selections = ABSENT
    leak: Selection = ABSENT
    utility: Selection = ABSENT
    at: Literal["first", "last", "every"] = ABSENT
    where: Literal["both"] = ABSENT
    of_several: Literal["least", "most"] = ABSENT
    at_most: float = ABSENT
    at_least: float = ABSENT
    setups: Names = ABSENT

    @model_validator(mode="after")
    def _as_the_statistic_needs(self) -> Check:
        """Raise for a part that the statistic lacks, or does not take."""
        traded, said = self.statistic == "hypervolume", self.model_fields_set
        needed = (set() if self.statistic in ALONE else {"right"}) | (TRADED if traded else set())
        if missing := sorted(needed - said):
            raise ValueError(f"has no {missing[0]!r}; {self.statistic} needs it")
        if extra := sorted((set() if traded else TRADED & said) | (said & {"at"} if self._anywhere() else set())):
            raise ValueError(f"has {extra[0]!r}; {self.statistic} takes none")
        several = [key for key in ("left", "right") if isinstance(getattr(self, key), list)]
        if several and self.statistic not in OF_LISTS:
            raise ValueError(f"has a list as {several[0]!r}; {self.statistic} takes one selection")
        return self

    def _anywhere(self) -> bool:
        """Whether it is of all places at once."""
        return self.statistic in {"share_below", "slope", "hypervolume"}


class Erratum(Shape):
    """Where a paper is not what its definitions say, and the test that shows it."""

    text: str
    check: str


class Reading(Shape):
    """What the text leaves open, the ways to read it, and which one is taken; `measured` is the page that compares.

    `decided_by` selects the printed rows that chose it; in none of them a defense acts. They are not judged afterwards.
    Where there are none the text's own words come first, and the other ways are variants beside it.
    """

    open: str
    place: str
    alternatives: Annotated[dict[Name, str], Field(min_length=2)]
    chosen: str
    decided_by: Annotated[list[Published], Field(min_length=1)] = ABSENT
    measured: str = ABSENT
    why: str

    @model_validator(mode="after")
    def _one_of_them(self) -> Reading:
        if self.chosen not in self.alternatives:
            raise ValueError(f"chosen is {self.chosen!r}; {nearest(self.chosen, self.alternatives)}")
        return self


class Headline(Shape):
    """Words, and the check that gives their number."""

    text: str
    check: Check


class Headlines(Shape):
    """What a run is followed by: what is left of utility, and to the strongest attack."""

    utility: Headline
    leak: Headline


class Claim(Headline):
    """A sentence of the paper that can fail."""

    place: str
    rule: str = ABSENT
    datasets: Literal["all"] | list[str] = ABSENT  # that it speaks of, if not the paper's: any, some; none: it is ours
    why: str = ABSENT


class Number(Shape):
    """A number as printed, and how ours is taken; or why there is none."""

    published: dict[str, str]
    without: str = ABSENT
    statement: str
    unit: Literal["percent"] = ABSENT
    check: Check = ABSENT
    tolerance: AtLeast0 = ABSENT
    rule: str = ABSENT
    depends_on_scale: bool = ABSENT
    decides: Names = ABSENT  # readings, and is not judged
    why: str

    @model_validator(mode="after")
    def _checked_or_without(self) -> Number:
        if ({"check", "depends_on_scale"} <= self.model_fields_set) == ("without" in self.model_fields_set):
            raise ValueError(
                "has not one of `check`, with `depends_on_scale`, and `without`; the one or the other is meant"
            )
        return self


class Paper(Shape):
    """The whole file, every entry in full."""

    title: str
    authors: str
    datasets: Names  # those that the paper speaks of
    errata: dict[str, Erratum] = ABSENT
    readings: dict[Name, Reading] = ABSENT
    headline: Headlines = ABSENT
    exhibits: dict[Name, Exhibit]
    numbers: list[Number] = ABSENT
    claims: dict[str, Claim]


Cases = dict[str, Different]  # key -> the values that it takes


class Sides(Shape, extra="allow"):
    """A check as it is written: `both` is part of left and of right."""

    both: Selection = ABSENT
    left: Selections = ABSENT
    right: Selections = ABSENT


class Family(Shape, extra="allow"):
    """Exhibits or claims as they are written: what becomes of it is checked as `Exhibit` or `Claim`."""

    cases: Cases | Annotated[list[Cases], Field(min_length=1)] = Field(ABSENT, alias="for")
    like: str = ABSENT
    draw: dict[str, Any] = ABSENT
    check: Sides = ABSENT


class Numbers(Shape, extra="allow"):
    """Printed numbers as they are written, by what published.csv has in its columns."""

    published: Published
    check: Sides = ABSENT


class Written(Shape):
    """The file as it is written; `families` makes a `Paper` of it."""

    title: Any = ABSENT
    authors: Any = ABSENT
    datasets: Any = ABSENT
    errata: Any = ABSENT
    readings: dict[Name, Reading] = ABSENT
    headline: dict[str, Family] = ABSENT
    words: dict[str, dict[str | float, dict[str, Any]]] = ABSENT
    defaults: dict[Literal["exhibits", "numbers", "claims"], dict[str, Any]] = ABSENT
    exhibits: dict[str, Family] = ABSENT
    numbers: list[Numbers] = ABSENT
    claims: dict[str, Family] = ABSENT
