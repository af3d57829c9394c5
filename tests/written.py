"""A paper as it is written, from what `families.read` makes of it, for tests that change one: its lines' inverse."""

from __future__ import annotations

from typing import Any

from cutlayer.plan.check_lines import AT_EQUAL, BETWEEN, KINDS, MODEL, OF_ALL, listed
from cutlayer.plan.families import EITHER, OF_CHECKS
from cutlayer.plan.lines import ALL, ANY, OURS, SHOWN

Entry = dict[str, Any]


def paper(full: Entry) -> Entry:
    """The content of a paper.yaml that means this."""
    own = dict(full)
    for section, one in (("exhibits", exhibit), ("claims", claim), ("headline", checked), ("errata", erratum)):
        if section in own:
            own[section] = {name: one(entry) for name, entry in own[section].items()}
    if "main" in own:
        own["main"] = [f"{entry['text']} ({', '.join(entry['claims'])})" for entry in own["main"]]
    if "numbers" in own:
        own["numbers"] = [checked(entry) for entry in own["numbers"]]
    return own


def exhibit(full: Entry) -> Entry:
    parts = [f"{word} {', '.join(listed(full[key]))}" for word, key in SHOWN.items() if key in full]
    return {key: part for key, part in full.items() if key not in SHOWN.values()} | {"shows": " ".join(parts).strip()}


def claim(full: Entry) -> Entry:
    own = {key: part for key, part in full.items() if key not in ("text", "place", "datasets")}
    data = full.get("datasets")
    whose = (
        "" if data is None else f"; {OURS}" if data == [] else f"; {ANY}" if data == ALL else f"; of {', '.join(data)}"
    )
    own |= {"given": line(own["given"])} if "given" in own else {}
    return checked(own) | {"says": f"{full['text']} ({full['place']}{whose})"}


def erratum(full: Entry) -> str:
    return f"{full['text']} ({full['check']})"


def checked(full: Entry) -> Entry:
    """The entry with its check as a line, or as one for each of its readings."""
    if "check" not in full:
        return full
    said = {key: full["check"][key] for key in OF_CHECKS if key in full["check"]}
    readings = {name: line(check) for name, check in full.get("readings", {}).items()}
    if any(name.endswith("folded") for name in readings):
        said["sides"] = EITHER
        scored = {name: own for name, own in readings.items() if name.endswith("as_scored")}
        readings = {name.removesuffix("_as_scored"): own for name, own in scored.items() if name != "as_scored"}
    return (
        {key: part for key, part in full.items() if key != "readings"}
        | said
        | {"check": readings or line(full["check"])}
    )


def line(check: Entry) -> str:
    """The line of a check, both sides in full."""
    statistic, how = check["statistic"], check.get("of_several", "least")
    if statistic in AT_EQUAL:
        left, right = _side(check["leak"] | check["left"], how), _side(check["right"], how)
        sides = f"{_side(check['utility'], how)} against {left} - {right}"
    else:
        sign = {meant: sign for sign, meant in BETWEEN.items()}.get(statistic, "-")
        sides = f" {sign} ".join(_side(check[key], how) for key in ("left", "right") if key in check)
    function = {meant: name for name, meant in OF_ALL.items()}.get(statistic.removesuffix("_gap"), "")
    words = [f"{function}({sides})" if function else sides]
    words += [f"at {check['at']} place"] if "at" in check else []
    words += ["where both are"] if "where" in check else []
    words += [f"in {check['exhibit']}"]
    words += [f"on {', '.join(check['setups'])}"] if "setups" in check else []
    return " ".join([*words, _bound(check.get("at_least"), check.get("at_most"))]).strip()


def _bound(least: float | None, most: float | None) -> str:
    if least is not None and most is not None:
        return f"between {least!r} and {most!r}"
    return f">= {least!r}" if least is not None else f"<= {most!r}" if most is not None else ""


def _side(selections: Any, how: str) -> str:
    """Of several selections the kind in which they differ is `least(...)` or `most(...)`."""
    words = []
    for kind, word in KINDS.items():
        values = list(dict.fromkeys(_value(kind, one) for one in listed(selections)))
        if values != [""]:
            words += [word, values[0] if len(values) == 1 else f"{how}({', '.join(values)})"]
    return " ".join(filter(None, words))


def _value(kind: str, selection: Entry) -> str:
    names = " & ".join(name or MODEL for name in listed(selection.get(kind, [])))
    setting = selection.get("setting") if kind == "defense" else None
    return names if setting is None else f"{names}[{' & '.join(listed(setting))}]"
