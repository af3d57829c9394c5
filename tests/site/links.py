"""What the pages of a site have and lead to."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

RESOURCES = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


@dataclass
class Page:
    """The anchors of a page, its links, and what it shows."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.page.anchors.add(str(given["id"]))
        if tag == "a" and "href" in given:
            self.page.links.append(str(given["href"]))
        if tag in RESOURCES and given.get(RESOURCES[tag]):
            self.page.resources.append(str(given[RESOURCES[tag]]))


def read(site: Path) -> dict[str, Page]:
    """The pages of a site by their paths in it."""
    pages = {}
    for file in sorted(site.rglob("*.html")):
        reader = _Reader()
        reader.feed(file.read_text())
        pages[str(file.relative_to(site))] = reader.page
    return pages


def broken(site: Path) -> list[str]:
    """Links within a site that lead nowhere, and resources that are not in it."""
    pages, wrong = read(site), []
    for name, page in pages.items():
        wrong += [
            f"{name}: {one} is no file here" for one in page.resources if urlsplit(one).scheme not in ("", "data")
        ]
        for link in [*page.links, *page.resources]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue  # of a link, that a reader may follow
            target = os.path.normpath(os.path.join(os.path.dirname(name), unquote(parts.path))) if parts.path else name
            if target.startswith("..") or not (site / target).is_file():
                wrong.append(f"{name}: {link}")
            elif parts.fragment and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{name}: {link} has no such place")
    return wrong
