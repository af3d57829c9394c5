"""Check lines: the one-line language in which a paper.yaml states the check of a claim.

    leak_auc of norm under marvell[sum_kl=0.1] - none in figure3a on criteo, avazu <= -0.22

is a gap: left marvell's cells, right those without a defense, of one exhibit and two setups. docs/paper_yaml.md has the
grammar.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

from cutlayer.core.errors import InputError, nearest

TOKEN = re.compile(r"\[[^\]]*\]|[-+]?\d[\w.+-]*|<=|>=|[-/<&(),]|\w+|\S")
KINDS = {"metric": "", "attack": "of", "defense": "under"}  # what a side names, in this order, and the word before it
MODEL = "model"  # in place of an attack: what a run says of itself
AT_EQUAL = ("at_equal_leak", "at_equal_utility")  # statistics of the trade-offs of two defenses
OF_ALL = {"share": "share_below"} | {name: name for name in ("slope", "largest", "kept", *AT_EQUAL)}
BETWEEN = {"-": "gap", "/": "ratio", "<": "share_below"}
BOUNDS = {"<=": ["at_most"], ">=": ["at_least"], "between": ["at_least", "at_most"]}

Entry = dict[str, Any]
Side = dict[str, list[Entry]]  # kind -> what it is, each of several


def parsed(line: str, where: str) -> Entry:
    """The check that a line states; InputError with file and key if it cannot be parsed."""
    return _Line(line, where).check()


def of(entry: Mapping[str, Any]) -> list[Entry]:
    """All checks of an entry: one for each reading of a claim, else one."""
    return [*entry.get("readings", {"": entry["check"]}).values()]


def selections(check: Mapping[str, Any]) -> list[Entry]:
    """All selections of a check, one by one."""
    return [one for key in ("left", "right", "leak", "utility") for one in listed(check.get(key, []))]


def listed(value: Any) -> list[Any]:
    """One value or several, as a list."""
    return value if isinstance(value, list) else [value]


class _Line:
    """Parser of a line, word by word."""

    def __init__(self, line: str, where: str) -> None:
        self._line, self._where = line, where
        self._found = [*TOKEN.finditer(line)]
        self._place = 0
        self._tried: dict[int, list[str]] = {}  # place -> words that may stand there
        self._several: set[str] = set()

    def check(self) -> Entry:
        """Parse the whole line."""
        check = self._of_all() if self._next(1) == "(" and self._next() in OF_ALL else self._compared("-", "/")
        if self._took("at"):
            check["at"] = self._one_of("first", "last", "every")
            self._one_of("place")
        if self._took("where"):
            check["where"] = self._one_of("both")
            self._one_of("are")
        self._one_of("in")
        check["exhibit"] = self._name("an exhibit")
        if self._took("on"):
            check["setups"] = self._listed("a setup", ",")
        return check | self._bound() | ({"of_several": "most"} if self._several == {"most"} else {})

    def _bound(self) -> Entry:
        if not self._next():
            return {}
        keys = BOUNDS[self._one_of(*BOUNDS)]
        bound = {keys[0]: self._number()}
        for key in keys[1:]:
            self._one_of("and")
            bound[key] = self._number()
        if self._next():
            raise self._wrong("the line ends here")
        return bound

    def _of_all(self) -> Entry:
        """Parse a statistic that is written like a function."""
        name = self._word()
        self._one_of("(")
        if name in AT_EQUAL:
            check = self._traded(name)
        elif name == "share":
            check = self._compared("<", needed=True)
        else:
            check = self._compared(*(["-"] if name in ("largest", "kept") else []))
        self._one_of(")")
        of_gap = name == "largest" and "right" in check
        return check | {"statistic": "largest_gap" if of_gap else OF_ALL[name]}

    def _compared(self, *signs: str, needed: bool = False) -> Entry:
        """Parse one side, or two with a sign between them."""
        left, last = self._side()
        sign = self._one_of(*signs) if needed else next(filter(self._took, signs), "")
        if not sign:
            return {"statistic": "value", "left": _selections(left)}
        right, _ = self._side(last)
        full = [_selections(_with(*sides)) for sides in ((left, right), (right, left))]
        return {"statistic": BETWEEN[sign], "left": full[0], "right": full[1]}

    def _traded(self, name: str) -> Entry:
        utility, _ = self._side()
        self._one_of("against")
        left, last = self._side()
        self._one_of("-")
        right, _ = self._side(last)
        sides = {"left": left, "right": _with(right, left)}
        if set(right) != {"defense"} or set(left) != {*KINDS} or "defense" in utility:
            raise self._wrong(f"`{name}(<metric> of model against <metric> of <attack> under <left> - <right>)`")
        traded = {"leak": _selections({kind: left[kind] for kind in ("metric", "attack")})}
        found = {name: _selections({"defense": side["defense"]}) for name, side in sides.items()}
        return {**found, **traded, "utility": _selections(utility)}

    def _side(self, last: str = "metric") -> tuple[Side, str]:
        """Parse a side; return it with the kind that it ends with. `last` is that of the side before."""
        side: Side = {}
        kinds, words = [*KINDS], [*KINDS.values()]
        if self._next() not in words:
            bare = self._values()
            following = words.index(self._next()) if self._next() in words else len(words)
            last = last if kinds.index(last) < following else "metric"
            side[last] = [self._selected(last, *value) for value in bare]
        elif last == "metric":
            raise self._wrong("a metric comes first")
        for kind in kinds[1:]:
            if kind not in side and self._took(KINDS[kind]):
                side[kind], last = [self._selected(kind, *value) for value in self._values()], kind
        return side, last

    def _values(self) -> list[tuple[list[str], str | None]]:
        """Parse one value, or those in `least(...)` or `most(...)`."""
        if not (self._next() in ("least", "most") and self._next(1) == "("):
            return [self._value()]
        self._several.add(self._word())
        if len(self._several) > 1:
            raise self._wrong("expected one of `least` and `most` in a line")
        self._one_of("(")
        values = [self._value()]
        while self._one_of(",", ")") == ",":
            values.append(self._value())
        return values

    def _value(self) -> tuple[list[str], str | None]:
        """Parse names and a setting, or one of them."""
        names = [] if self._next().startswith("[") else self._listed("a name", "&")
        return names, self._word()[1:-1] if self._next().startswith("[") else None

    def _selected(self, kind: str, names: list[str], setting: str | None) -> Entry:
        """Part of a selection for a kind: its names and setting."""
        if kind != "defense" and setting is not None:
            raise self._wrong("a [setting] comes after a defense")
        own = ["" if kind == "attack" and name == MODEL else name for name in names]
        named = {kind: _alone(own)} if own else {}
        return named | ({"setting": _alone(setting.split(" & "))} if setting is not None else {})

    def _listed(self, what: str, sign: str) -> list[str]:
        names = [self._name(what)]
        while self._took(sign):
            names.append(self._name(what))
        return names

    def _name(self, what: str) -> str:
        if not re.fullmatch(r"\w+", self._next()):
            raise self._wrong(f"expected {what}")
        return self._word()

    def _number(self) -> float:
        try:
            number = float(self._next())
        except ValueError:
            raise self._wrong("expected a number") from None
        self._place += 1
        return number

    def _next(self, ahead: int = 0) -> str:
        place = self._place + ahead
        return self._found[place][0] if place < len(self._found) else ""

    def _word(self) -> str:
        word = self._next()
        self._place += 1
        return word

    def _took(self, word: str) -> bool:
        self._tried.setdefault(self._place, []).append(word)
        there = self._next() == word
        self._place += there
        return there

    def _one_of(self, *words: str) -> str:
        if self._next() not in words:
            may = [*self._tried.get(self._place, []), *words]
            raise self._wrong(nearest(self._next(), may).replace("known: ", "expected "))
        return self._word()

    def _wrong(self, expected: str) -> InputError:
        here = self._found[self._place] if self._place < len(self._found) else None
        before = self._line[: here.start()].rstrip() if here else self._line.rstrip()
        after = f"after {before!r} " if before else ""
        return InputError(self._where, f"{after}stands {here[0]!r}" if here else f"{after}it ends", expected)


def _with(side: Side, other: Side) -> Side:
    """The side, completed by the parts that only the other one names; a setting only together with its defense."""
    full = {kind: side.get(kind, other.get(kind, [])) for kind in KINDS if kind in side or kind in other}
    named = [one["defense"] for one in other.get("defense", []) if "defense" in one]
    if "defense" in side and named and all(name == named[0] for name in named):
        full["defense"] = [{"defense": named[0]} | one for one in side["defense"]]
    return full


def _selections(side: Side) -> Any:
    """The selections of a side."""
    cases = itertools.product(*side.values())
    return _alone([{key: value for part in parts for key, value in part.items()} for parts in cases])


def _alone(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values
