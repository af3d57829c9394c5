"""documents: the project's own texts, from markdown; they lie under docs/ as they lie in the project."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from .marks import slug

MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
COMMENT = re.compile(r"\s*<!--.*?-->", flags=re.S)  # what a sentence rests on, for tests
OUTSIDE = ("http://", "https://", "mailto:")


def place(path: str) -> str:
    """Where in the site a document is."""
    return f"docs/{path.removesuffix('.md')}.html"


def inline(text: str) -> str:
    """A sentence with its code and its emphasis."""
    return MARKDOWN.renderInline(text)


def prose(text: str) -> str:
    """A docstring; what it raises is a sentence there."""
    return MARKDOWN.render(re.sub(r"^Raises:\n +", "Raises ", text, flags=re.M))


def title(path: str) -> str:
    """What a document calls itself in its first heading."""
    headings = re.findall(r"^# (.*)$", Path(path).read_text(encoding="utf-8"), flags=re.M)
    return next(iter(headings), path).replace("`", "")


def rendered(path: str, documents: Sequence[str], pictures: Sequence[str]) -> dict[str, str]:
    """A document's title and its html; links to what the site does not have are only named."""
    tokens = MARKDOWN.parse(COMMENT.sub("", Path(path).read_text(encoding="utf-8")))
    for heading, content in pairwise(tokens):
        if heading.type == "heading_open":
            heading.attrSet("id", slug(content.content))
    for token in tokens:
        _relink(token.children or [], lambda href: _target(href, path, documents, pictures))
    html = MARKDOWN.renderer.render(tokens, MARKDOWN.options, {})
    html = html.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    return {"title": title(path), "html": html}


def _relink(children: Sequence[Token], leads: Callable[[str], str]) -> None:
    """Let links and pictures lead where `leads` says; where it says nothing, their text is all that is left."""
    dead = False  # links do not nest
    for child in children:
        if child.type == "image":
            to = leads(str(child.attrGet("src")))
            child.attrSet("src", to)
            child.type = child.type if to else "text"
        if child.type == "link_open":
            to = leads(str(child.attrGet("href")))
            child.attrSet("href", to)
            dead = not to
        if dead and child.type in ("link_open", "link_close"):
            dead = child.type == "link_open"
            child.type = "text"


def _target(href: str, path: str, documents: Sequence[str], pictures: Sequence[str]) -> str:
    """Where a link of a document leads in the site; empty: nowhere."""
    if href.startswith((*OUTSIDE, "#")):
        return href
    file, mark, part = href.partition("#")
    meant = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
    if meant in documents:
        return file.removesuffix(".md") + ".html" + mark + part
    return file if meant in pictures else ""
