"""Documentation pages, rendered from markdown; their paths under docs/ are those in the project."""

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
COMMENT = re.compile(r"(?<!`)\s*<!--.*?-->", flags=re.S)  # what a sentence rests on, for tests; not as code
OUTSIDE = ("http://", "https://", "mailto:")


def place(path: str) -> str:
    """Path of a document's page in the site."""
    return f"docs/{path.removesuffix('.md')}.html"


def inline(text: str) -> str:
    """HTML of a sentence with its code and emphasis."""
    return MARKDOWN.renderInline(text)


def prose(text: str) -> str:
    """HTML of a docstring; the errors that it lists become a sentence."""
    return MARKDOWN.render(re.sub(r"^Raises:\n +", "Raises ", text, flags=re.M))


def title(path: str) -> str:
    """Title of a document: its first heading."""
    headings = re.findall(r"^# (.*)$", Path(path).read_text(encoding="utf-8"), flags=re.M)
    return next(iter(headings), path).replace("`", "")


def finding(path: str) -> str:
    """HTML of the sentence of a document that first says what it rests on; empty if none does."""
    said, mark, _ = Path(path).read_text(encoding="utf-8").partition("<!-- rests on")
    return inline(said.rpartition("\n\n")[2].strip()) if mark else ""


def rendered(path: str, documents: Sequence[str], pictures: Sequence[str]) -> dict[str, str]:
    """Title and HTML of a document; links to files that the site lacks become plain text."""
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
    """Rewrite links and pictures by `leads`; where it returns nothing, only their text stays."""
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
    """Target of a document's link in the site; empty if the site lacks it."""
    if href.startswith((*OUTSIDE, "#")):
        return href
    file, mark, part = href.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), file))
    if target in documents:
        return file.removesuffix(".md") + ".html" + mark + part
    return file if target in pictures else ""
