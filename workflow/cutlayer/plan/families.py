"""Families: templates in a paper.yaml, from which several exhibits, claims or numbers are made.

    claims:
      lowers_{attack}:
        for: { attack: [basic, dsa] }
        check: "{attack.metric} of {attack} under tcpo - none in table4 <= 0"

is the two claims lowers_basic and lowers_dsa. docs/paper_yaml.md has the rules: `for` and `words`, `like` and
`defaults`, and what `says`, `shows` and `check` are.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from cutlayer.core import yamls
from cutlayer.core.errors import InputError, nearest

from . import check_lines
from .checks import known, validate
from .lines import grid_of, placed, statement
from .paper_model import Column, Number, Written

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
PER_SETUP = "attacked_in"  # its {setup} stands for each of the exhibit's own
OF_CHECKS = ("sides", "bound")  # keys of an entry that are about its checks
EITHER = "either"  # of `sides`: as scored and folded are two readings
STATEMENT = "{method} {metric}"  # of a number that says none

Entry = dict[str, Any]


def read(folder: Path, where: str) -> Entry:
    """The paper of a folder with every entry in full; InputError with file and key for entries that do not resolve."""
    written: Entry = yamls.read(folder / "paper.yaml", where)
    validate(written, Written, where)
    words, defaults = written.pop("words", {}), written.pop("defaults", {})
    for section in [name for name in ("exhibits", "claims") if name in written]:
        here = f"{where} {section}"
        base = _split(defaults.get(section, {}), f"{where} defaults.{section}")
        families = {name: _split(entry, f"{here}.{name}") for name, entry in written[section].items()}
        written[section] = _members(_on_their_bases(families, base, here), words, here)
    if "numbers" in written:
        with (folder / "published.csv").open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
        entries = [defaults.get("numbers", {}) | entry for entry in written["numbers"]]
        decided = _decided(written.get("readings", {}), rows, f"{where} readings")
        written["numbers"] = _numbers(entries, rows, words, decided, f"{where} numbers")
    for part, entry in written.get("headline", {}).items():
        written["headline"][part] = _checked(entry, f"{where} headline.{part}")
    for number, erratum in written.get("errata", {}).items():
        text, check = statement(erratum, f"{where} errata.{number}")
        written["errata"][number] = {"text": text, "check": check}
    if "main" in written:
        points = [statement(sentence, f"{where} main.{place}") for place, sentence in enumerate(written["main"])]
        written["main"] = [{"text": text, "claims": claims.split(", ")} for text, claims in points]
    return written


def _split(entry: Entry, where: str) -> Entry:
    """The entry with its lines parsed, except for its check, which may have placeholders."""
    own = dict(entry)
    if "shows" in own:
        own |= grid_of(own.pop("shows"), f"{where}.shows")
    if "says" in own:
        own |= placed(own.pop("says"), f"{where}.says")
    return own


def _checked(entry: Entry, where: str) -> Entry:
    """The entry with its check parsed; of several readings all are, and the first of them is its check."""
    if "check" not in entry:
        return entry
    if "given" in entry:
        entry = dict(entry) | {"given": check_lines.parsed(entry["given"], f"{where}.given")}
    either = entry.get("sides") == EITHER
    about = {key: entry[key] for key in OF_CHECKS if key in entry and not (either and key == "sides")}
    own = {key: part for key, part in entry.items() if key not in OF_CHECKS}
    if not isinstance(entry["check"], Mapping) and not either:
        return own | {"check": check_lines.parsed(entry["check"], f"{where}.check") | about}
    lines = entry["check"] if isinstance(entry["check"], Mapping) else {"": entry["check"]}
    here = f"{where}.check."
    readings = {name: check_lines.parsed(line, (here + name).rstrip(".")) | about for name, line in lines.items()}
    if either:
        scored = {f"{name}_as_scored".removeprefix("_"): one | {"sides": "one"} for name, one in readings.items()}
        readings = scored | {f"{name}_folded".removeprefix("_"): one for name, one in readings.items()}
    return own | {"check": next(iter(readings.values()), {}), "readings": readings}


@dataclass
class Case:
    """One case of a family: the values of its placeholders {key} and {key.word}."""

    values: Mapping[str, Any]
    words: Mapping[str, Mapping[Any, Mapping[str, Any]]]
    where: str
    used: set[str] = field(default_factory=set)

    def fill(self, content: Any) -> Any:
        """The content with placeholders replaced; a text that is a placeholder alone becomes its list or number."""
        if isinstance(content, Mapping):
            return {key: part if key == PER_SETUP else self.fill(part) for key, part in content.items()}
        if isinstance(content, list):
            return [self.fill(part) for part in content]
        if not isinstance(content, str):
            return content
        alone = PLACEHOLDER.fullmatch(content)
        return self._value(alone[1]) if alone else PLACEHOLDER.sub(lambda part: str(self._value(part[1])), content)

    def _value(self, name: str) -> Any:
        key, dot, word = name.partition(".")
        if key not in self.values:
            allowed = nearest(key, self.values) if self.values else "it has no `for`"
            raise InputError(self.where, f"there is no {key!r} to put in place of {{{name}}}", allowed)
        self.used.add(key)
        value = self.values[key]
        if not dot:
            return value
        own = {str(one): texts for one, texts in self.words.get(key, {}).items()}
        known(f"word of {key}", str(value), own, f"{self.where}, {{{name}}}")
        known(f"word of {value}", word, own[str(value)], f"{self.where}, {{{name}}}")
        return own[str(value)][word]


def _on_their_bases(entries: Mapping[str, Entry], defaults: Entry, where: str) -> dict[str, Entry]:
    """Every entry merged over the defaults and the entry that it is `like`."""
    full: dict[str, Entry] = {}
    for name, entry in entries.items():
        own = dict(entry)
        if "like" in own:
            base = own.pop("like")
            known("entry above it", base, full, f"{where}.{name}.like")
            own = full[base] | own
        full[name] = own
    return {name: defaults | entry for name, entry in full.items()}


def _members(families: Mapping[str, Entry], words: Mapping[str, Any], where: str) -> dict[str, Entry]:
    """All entries of the families, by name."""
    members: dict[str, Entry] = {}
    for name, family in families.items():
        here = f"{where}.{name}"
        content = {key: part for key, part in family.items() if key != "for"}
        for values in _cases(family.get("for", {})):
            case = Case(values, words, here)
            own, member = str(case.fill(name)), case.fill(content)
            if unused := sorted(values.keys() - case.used):
                raise InputError(here, f"its `for` has {unused[0]!r}, which stands nowhere in it", f"{{{unused[0]}}}")
            if own in members:
                raise InputError(f"{where}.{own}", f"is there twice, once of {name}", "expected a name for each case")
            members[own] = _checked(member, f"{where}.{own}")
    return members


def _cases(given: Any) -> Iterator[dict[str, Any]]:
    """Combinations of values of a `for`, the last key varying fastest."""
    for choices in given if isinstance(given, list) else [given]:
        for values in itertools.product(*choices.values()):
            yield dict(zip(choices, values, strict=True))


def _decided(readings: Mapping[str, Entry], rows: list[dict[str, str]], where: str) -> dict[int, list[str]]:
    """Readings that a published row decided, by its place."""
    decided: dict[int, list[str]] = {}
    for name, reading in readings.items():
        by, here = reading.get("decided_by", []), f"{where}.{name}.decided_by"
        for line in {line for published in by for line in _selected(rows, published, here)}:
            decided.setdefault(line, []).append(name)
    return decided


def _numbers(
    entries: list[Entry],
    rows: list[dict[str, str]],
    words: Mapping[str, Any],
    decided: Mapping[int, list[str]],
    where: str,
) -> list[Entry]:
    """Entries of all published numbers, in the order of published.csv."""
    found: dict[int, Entry] = {}
    for place, entry in enumerate(entries):
        here = f"{where}.{place}"
        for line in _selected(rows, entry["published"], f"{here}.published"):
            if line in found:
                raise InputError(here, f"has what another entry has: {found[line]['published']}", "expected each once")
            decides = {"decides": decided[line]} if line in decided else {}
            row = {column: rows[line][column] for column in get_args(Column)}
            found[line] = _number(entry | decides, row, words, here)
    return [found[line] for line in sorted(found)]


def _selected(rows: list[dict[str, str]], published: Mapping[str, Any], where: str) -> list[int]:
    """Indices of the rows that have one of the given values in each column."""
    lines = list(range(len(rows)))
    for column, given in published.items():
        wanted = given if isinstance(given, list) else [given]
        for value in wanted:
            known(f"number with {column}", value, {rows[line][column] for line in lines}, where)
        lines = [line for line in lines if rows[line][column] in wanted]
    return lines


def _number(entry: Entry, row: dict[str, str], words: Mapping[str, Any], where: str) -> Entry:
    """Entry of one published number."""
    number = _checked(Case(row, words, where).fill({"statement": STATEMENT, "why": ""} | entry), where)
    number |= {"published": row, "statement": number["statement"].removeprefix("- ")}
    validate(number, Number, where)
    return number
