"""Pydantic models of paper.yaml: exhibits, claims, numbers, errata and readings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from cutlayer.core.errors import nearest

from .check_lines import AT_EQUAL
from .shapes import ABSENT, AtLeast0, Different, Fraction, Name, Names, Shape, Used, different

Selection = dict[str, str | float | list[Any]]  # column -> what its cells hold
Selections = Selection | Annotated[list[Selection], Field(min_length=1)]
Column = Literal["item", "dataset", "target", "method", "metric"]  # of published.csv, which together name a number
Published = Annotated[dict[Column, str | Names], Field(min_length=1)]  # selects rows of it
ALONE = {"value", "largest", "slope", "kept"}  # statistics of `left` alone
TRADED = {"leak", "utility"}  # what a trade-off is between
OF_LISTS = {"value", "gap", "share_below"}  # statistics of several selections, of which the least or greatest counts
LIMITS = {"at_least", "at_most"}
BOUNDED = {"value", "gap", "ratio", "largest", "largest_gap"}  # statistics that a proven bound may be about


def _needs(key: str, wrong: str) -> Any:
    """Validator of a model: the entry must have the key, which a line of paper.yaml sets."""

    def check(cls: type, given: Any) -> Any:
        if key not in given:
            raise ValueError(wrong)
        return given

    as_method: Any = classmethod(check)
    return model_validator(mode="before")(as_method)


class Choose(Shape):
    """Choice of a defense's setting: the best utility within a leak."""

    utility: str
    attack: str
    leak: str
    within: AtLeast0


class Match(Shape):
    """Target leak to which the strength of each defense is tuned."""

    attack: str
    leak: str
    utility: str
    targets: Annotated[list[Fraction], Field(min_length=1), AfterValidator(different)]
    tolerance: Fraction


class Worst(Shape):
    """Groups of attacks reported by their strongest member, with the direction of each metric."""

    leaks: Annotated[dict[str, Literal["more", "less"]], Field(min_length=1)]
    among: Annotated[dict[Name, Literal["all"] | Names], Field(min_length=1)]


class Kept(Shape):
    """What a party is worth: a model's `utility` above that under a defense, the `floor`."""

    utility: str
    floor: str


class Exhibit(Shape):
    """A table or figure: its grid, and the options of its plot."""

    title: str
    caption: str
    setups: Names
    defenses: Literal["all"] | Names = ABSENT
    attacks: Literal["all"] | Names = ABSENT
    sources: Annotated[
        list[Literal["scores", "utility", "theory", "times", "data", "grids", "matches", "vulnerable"]],
        Field(min_length=1),
    ] = ABSENT
    metrics: Names = ABSENT
    settings: Names = ABSENT
    along: str = ABSENT
    attacked_in: dict[str, str] = ABSENT
    choose: Choose = ABSENT
    worst: Worst = ABSENT
    match: Match = ABSENT
    kept: Kept = ABSENT
    printed: Names = ABSENT
    draw: Used

    _somewhere = _needs("setups", "shows no setups; expected `on` and their names in its line `shows`")


class Check(Shape):
    """A statistic of selected cells, and the limits for its interval."""

    exhibit: str
    statistic: Literal[
        "value", "largest", "gap", "largest_gap", "share_below", "ratio", "slope", "at_equal_leak",
        "at_equal_utility", "kept",
    ]  # fmt: skip
    left: Selections
    right: Selections = ABSENT
    leak: Selection = ABSENT
    utility: Selection = ABSENT
    at: Literal["first", "last", "every"] = ABSENT
    where: Literal["both"] = ABSENT
    of_several: Literal["most"] = ABSENT  # of a list of selections, if not the least
    at_most: float = ABSENT
    at_least: float = ABSENT
    setups: Names = ABSENT
    sides: Literal["one"] = ABSENT  # an attack's AUC as it is scored, where the paper does not fold it
    bound: Literal["proven"] = ABSENT  # by a theorem, so that a run can refute it and never make it hold

    @model_validator(mode="after")
    def _as_the_statistic_needs(self) -> Check:
        """Raise for a part that the statistic misses, or does not take."""
        traded, given = self.statistic in AT_EQUAL, self.model_fields_set
        needed = (set() if self.statistic in ALONE else {"right"}) | (TRADED if traded else set())
        if missing := sorted(needed - given):
            raise ValueError(f"has no {missing[0]!r}; {self.statistic} needs it")
        if extra := sorted((set() if traded else TRADED & given) | (given & {"at"} if self._anywhere() else set())):
            raise ValueError(f"has {extra[0]!r}; {self.statistic} takes none")
        several = [key for key in ("left", "right") if isinstance(getattr(self, key), list)]
        if several and self.statistic not in OF_LISTS:
            raise ValueError(f"has a list as {several[0]!r}; {self.statistic} takes one selection")
        if "bound" in given and (self.statistic not in BOUNDED or several or self.at == "every" or not given & LIMITS):
            known = ", ".join(sorted(BOUNDED))
            raise ValueError(f"has a proven bound; expected a limit to the {known} of one selection")
        return self

    def _anywhere(self) -> bool:
        """True if the statistic is over all places of the axis."""
        return self.statistic in {"share_below", "slope", "kept", *AT_EQUAL}


class Erratum(Shape):
    """An error of the paper, and the test that shows it."""

    text: str
    check: str


class Reading(Shape):
    """A choice that the text leaves open, its alternatives and ours; `measured` is the page that compares them.

    `decided_by` selects the published rows that decided; in none of them a defense acts, and they are not judged
    afterwards. Where there are none, the literal text comes first, and the alternatives are variants.
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
    """A headline number: its text, and the check that computes it."""

    text: str
    check: Check


class Headlines(Shape):
    """Headline numbers of a paper: remaining utility, and leak to the strongest attack."""

    utility: Headline
    leak: Headline


class Claim(Headline):
    """A sentence of the paper that can fail."""

    readings: Annotated[dict[Name, Check], Field(min_length=2)] = ABSENT  # of a text that says several things
    across: Literal["any", "mean"] = ABSENT  # its datasets: of one of them at least, or of their mean
    given: Check = ABSENT  # what the sentence presupposes: where it is not so there is no signal
    place: str
    rule: str = ABSENT
    datasets: Literal["all"] | list[str] = ABSENT  # that it speaks of, if not the paper's: any, some; none: it is ours
    why: str = ABSENT
    about: Literal["label", "class", "row", "coin"] = ABSENT  # of a bound: whose two worlds it compares

    _sentence = _needs("text", "has no 'says'; expected the sentence with its place in parentheses")

    @model_validator(mode="after")
    def _one_sided_if_any(self) -> Claim:
        """Raise for a check that cannot hold for some dataset, or for the mean of several."""
        checks = [self.check, *(self.readings.values() if "readings" in self.model_fields_set else ())]
        for given in (check.model_fields_set for check in checks if "across" in self.model_fields_set):
            if "bound" in given or (self.across == "any" and given >= LIMITS):
                raise ValueError(f"is across {self.across}; expected one limit that is not proven")
        return self


class Main(Shape):
    """A main result of a paper in plain words, with the claims that support it."""

    text: str
    claims: Names


class Number(Shape):
    """A published number, and the check that computes ours; or why there is none."""

    published: dict[str, str]
    without: str = ABSENT
    statement: str
    unit: Literal["percent"] = ABSENT
    check: Check = ABSENT
    readings: Annotated[dict[Name, Check], Field(min_length=2)] = ABSENT  # of a text that says several things
    across: Literal["mean", "sum"] = ABSENT  # its setups, where one number is printed for all
    tolerance: AtLeast0 = ABSENT
    rule: str = ABSENT
    depends_on_scale: bool = ABSENT
    decides: Names = ABSENT  # readings, and is not judged
    why: str

    @model_validator(mode="after")
    def _checked_or_without(self) -> Number:
        if ({"check", "depends_on_scale"} <= self.model_fields_set) == ("without" in self.model_fields_set):
            raise ValueError("has not one of `check`, with `depends_on_scale`, and `without`; expected one of the two")
        return self


class Paper(Shape):
    """A whole paper.yaml, with every entry in full."""

    title: str
    authors: str
    datasets: Names  # those that the paper speaks of
    errata: dict[str, Erratum] = ABSENT
    readings: dict[Name, Reading] = ABSENT
    headline: Headlines = ABSENT
    main: Annotated[list[Main], Field(min_length=1, max_length=5)] = ABSENT
    exhibits: dict[Name, Exhibit]
    numbers: list[Number] = ABSENT
    claims: dict[str, Claim]


Cases = dict[str, Different]  # key -> the values that it takes


IN_LINES = dict.fromkeys(("metrics", "attacks", "defenses", "setups", "along", "sources"), "shows")
IN_LINES |= {"text": "says", "place": "says", "datasets": "says"}  # key -> the line of which it is a part


def _line(given: Any) -> Any:
    """Raise unless a check is a line of text."""
    if not isinstance(given, str):
        raise ValueError("is no line; expected `<metric> of <attack> under <defense> in <exhibit> >= 0`")
    return given


def _lines(given: Any) -> Any:
    """Raise unless a check is a line, or a mapping of readings to lines."""
    for line in given.values() if isinstance(given, dict) else [given]:
        _line(line)
    return given


Line = Annotated[str, BeforeValidator(_line)]
Lines = Annotated[str | dict[str, str], BeforeValidator(_lines)]


class Family(Shape, extra="allow"):
    """Exhibits or claims as written in the file; the result is checked as `Exhibit` or `Claim`."""

    cases: Cases | Annotated[list[Cases], Field(min_length=1)] = Field(ABSENT, alias="for")
    like: str = ABSENT
    draw: dict[str, Any] = ABSENT
    shows: str = ABSENT
    says: str = ABSENT
    given: Line = ABSENT
    check: Lines = ABSENT

    @model_validator(mode="before")
    @classmethod
    def _in_lines(cls, given: Any) -> Any:
        for key in given if isinstance(given, dict) else ():
            if key in IN_LINES:
                raise ValueError(f"has {key!r}; it is part of the line `{IN_LINES[key]}` (see docs/paper_yaml.md)")
        return given


class Numbers(Shape, extra="allow"):
    """Published numbers as written in the file, by columns of published.csv."""

    published: Published
    check: Lines = ABSENT


class Followed(Shape):
    """A headline number as written in the file."""

    text: str
    check: Line


class Written(Shape):
    """A paper.yaml as written; `families` makes a `Paper` of it."""

    title: Any = ABSENT
    authors: Any = ABSENT
    datasets: Any = ABSENT
    errata: dict[str, str] = ABSENT
    readings: dict[Name, Reading] = ABSENT
    headline: dict[str, Followed] = ABSENT
    main: list[str] = ABSENT
    words: dict[str, dict[str | float, dict[str, Any]]] = ABSENT
    defaults: dict[Literal["exhibits", "numbers", "claims"], Family] = ABSENT
    exhibits: dict[str, Family] = ABSENT
    numbers: list[Numbers] = ABSENT
    claims: dict[str, Family] = ABSENT
