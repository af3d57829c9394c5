"""Links from the first use of a term to its entry in the glossary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup, escape

from .marks import slug

PAGE = "docs/glossary.md"
COMMON = {"bound", "chance", "claim", "game", "interval", "reading", "release", "scale", "seed", "setup", "utility"}
CODE = re.compile(r"`([^`]+)`")
ENTRY = re.compile(r"^### (?P<term>.+)\n(?P<text>(?:.+\n)+)", flags=re.M)


def entries(path: str = PAGE) -> dict[str, str]:
    """The explanation of each term, in the order of the page; none if there is no such page."""
    text = Path(path).read_text(encoding="utf-8") if Path(path).exists() else ""
    return {found["term"]: " ".join(found["text"].split()) for found in ENTRY.finditer(text)}


def linked(text: str, terms: Mapping[str, str], page: str) -> Markup:
    """HTML of a text with code in backticks, in which the first use of each term leads to its entry on `page`.

    Words that every caption has (COMMON) have an entry, and no link. A term may be in the plural.
    """
    names = sorted((name for name in terms if name.lower() not in COMMON), key=len, reverse=True)
    anywhere = (
        re.compile(rf"\b({'|'.join(map(re.escape, names))})(?=s?\b)", flags=re.I) if names else re.compile(r"(?!)")
    )
    anchors, seen = {name.lower(): slug(name) for name in names}, set()

    def link(found: re.Match[str]) -> str:
        anchor = anchors[found[1].lower()]
        if anchor in seen:
            return found[0]
        seen.add(anchor)
        return f'<a class="term" href="{page}#{anchor}">{found[0]}</a>'

    html = anywhere.sub(link, str(escape(text)))
    return Markup(CODE.sub(r"<code>\1</code>", html))  # escaped before
