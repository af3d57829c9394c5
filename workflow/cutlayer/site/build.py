"""Writes the site: the pages with all files that they show; nothing is fetched from the network."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from cutlayer.core.files import replacing
from cutlayer.ledger import distance as distances
from cutlayer.ledger import names, overview
from cutlayer.ledger.readable import readable
from cutlayer.ledger.verdicts import MARK, ORDER
from cutlayer.plan import plugins
from cutlayer.reference import published

from . import api, datasets, distance, documents, exhibit_sections, front, glossary, methods, order, papers, rows
from .inputs import Inputs, claims
from .marks import ICONS, MEANINGS, broken, slug, spoken

ASSETS = Path(__file__).with_name("assets")
VERSION = metadata.version("cutlayer")
COPIED = {"csv", "png"}  # of an exhibit's files
FIRST = ("claim", "ours", "number")  # kinds of rows in the order of their page


def write(given: Inputs, folder: Path) -> None:
    """Write the site into an empty folder."""
    _pages(given, folder)
    _copies(given, folder)
    _distances(given, folder)


def _pages(given: Inputs, folder: Path) -> None:
    """Write all pages."""
    write_page, table = _writer(given, folder), claims(given)
    seen = [*overview.papers(table, given.papers, given.scales)]
    write_page("index.html", "index", **front.page(given, table, seen))
    listed = [{str(name): value for name, value in row.items()} for row in readable(table).to_dict("records")]
    for one in seen:
        own = [row for row in listed if row["paper"] == one.name]
        shown = exhibit_sections.sections(given, one.name, own)
        content = papers.page(one, given.papers[one.name], own, shown)
        far = distances.table(table[table["paper"] == one.name]).drop(columns="paper").to_dict("records")
        write_page(f"{one.name}.html", "paper", paper=content, exhibits=shown, far=far)
    listed = sorted(listed, key=lambda row: FIRST.index(row["kind"]))
    write_page("rows.html", "rows", rows=listed, rule=overview.RULE)
    rows.write(table, folder)
    write_page("data.html", "data", datasets=[*datasets.described(given)])
    for path in given.documents:
        page = documents.rendered(path, given.documents, given.pictures)
        write_page(documents.place(path), "document", page=page, path=path)
    if given.api:
        _reference(write_page)
        methods.write(given, write_page)


def _named(paths: Sequence[str]) -> dict[str, dict[str, str]]:
    """Documents by group, each path with its title."""
    return {group: {path: documents.title(path) for path in own} for group, own in order.groups(paths).items()}


def _reference(write_page: Callable[..., None]) -> None:
    """Write the API pages."""
    pages = [*api.pages()]
    for page in (None, *pages):
        write_page(f"api/{page.name if page else 'index'}.html", "api", pages=pages, page=page)


def _copies(given: Inputs, folder: Path) -> None:
    """Copy pictures, csv tables and assets into the site."""
    for paper, content in given.papers.items():
        for name, exhibit in content["exhibits"].items():
            for kind in COPIED.intersection(published.kinds_of(exhibit)):
                file = f"exhibits/{paper}/{name}.{kind}"
                _copy(given.results / file, folder / file)
    for picture in given.pictures:
        _copy(Path(picture), folder / "docs" / picture)
    for asset in sorted(ASSETS.iterdir()):
        _copy(asset, folder / "assets" / asset.name)


def _distances(given: Inputs, folder: Path) -> None:
    """Draw the distance to the published values, for each paper that has any."""
    table = claims(given)
    for name, content in given.papers.items():
        if content.get("numbers"):
            files = {kind: folder / f"distance/{name}.{kind}" for kind in ("png", "pdf")}
            distance.draw(table, name, given.styles, files)


def _copy(source: Path, target: Path) -> None:
    with replacing(target) as temporary:
        shutil.copyfile(source, temporary)


def _writer(given: Inputs, folder: Path) -> Callable[..., None]:
    """A function that writes a page from its template."""
    environment = Environment(
        loader=PackageLoader("cutlayer.site"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"plain": overview.plain, "slug": slug, "spoken": spoken, "inline": documents.inline,
                            "address": rows.address, "prose": documents.prose, "broken": broken,
                            "coded": lambda text: broken(glossary.linked(text, {}, ""))}  # fmt: skip
    terms = glossary.entries() if glossary.PAGE in given.documents else {}
    page_of_terms = documents.place(glossary.PAGE)
    environment.filters["terms"] = lambda text, up: glossary.linked(text, terms, f"{up}{page_of_terms}")
    environment.globals |= {
        "icons": ICONS, "meanings": MEANINGS, "verdicts": [word for word in ORDER if not word.endswith(MARK)],
        "order": [*given.papers], "groups_of_verdicts": [*overview.GROUPS, overview.NOT_JUDGED],
        "scale": " and ".join(given.scales),
        "of_scale": overview.of_scale(given.scales), "title_of": names.of_setup,
        "distance_is": distances.ABOUT,
        "documents": {path: documents.place(path) for path in given.documents},
        "groups": _named(given.documents),
        "version": VERSION, "games": methods.GAMES, "known_files": lambda game, kind: plugins.names(kind, game),
        "exhibits_of": lambda rows: dict.fromkeys((row["paper"], row["exhibit"]) for row in rows),
        "api": given.api, "other_site": given.other, "summaries": given.other.summaries if given.other else {},
    }  # fmt: skip

    def write_page(place: str, template: str, **content: Any) -> None:
        page = environment.get_template(f"{template}.html.jinja").render(up="../" * place.count("/"), **content)
        with replacing(folder / place) as temporary:
            temporary.write_text(page, encoding="utf-8")

    return write_page
