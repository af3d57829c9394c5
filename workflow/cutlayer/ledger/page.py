"""The ledger: all verdicts as csv, markdown and a sortable page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment

from cutlayer.core import failed_cells
from cutlayer.core.files import replacing

from . import cells, claims
from .verdicts import MARK, ORDER

SHOWN = [
    "kind",
    "item",
    "statement",
    "setup",
    "provenance",
    "size",
    "seeds",
    "published",
    "ours",
    "interval",
    "difference",
    "threshold",
    "verdict",
    "why",
]


def write(
    papers: Mapping[str, Any],
    published: Sequence[str | Path],
    tables: Sequence[str | Path],
    scale: claims.Scale,
    output: Mapping[str, str | Path],
) -> None:
    """Judge all papers and write `claims`, `csv`, `md` and `html`.

    `published` has one csv a paper, `tables` the cells of all exhibits in the order of the papers.
    """
    remaining = iter(tables)
    parts, failed = [], dict[str, None]()
    for (name, paper), printed in zip(papers.items(), published, strict=True):
        own = {exhibit: cells.load(next(remaining)) for exhibit in paper["exhibits"]}
        parts.append(claims.judge(name, paper, pd.read_csv(printed), own, scale))
        failed |= dict.fromkeys(line for table in own.values() for line in failed_cells.listed(table))
    verdicts = pd.concat(parts, ignore_index=True)
    cells.write(verdicts, output["claims"])
    cells.write(counts(verdicts), output["csv"])
    name = scale.name
    pages = {"md": markdown(verdicts, papers, name, [*failed]), "html": page(verdicts, papers, name, [*failed])}
    for kind, text in pages.items():
        with replacing(output[kind]) as temporary:
            temporary.write_text(text)


def counts(verdicts: pd.DataFrame) -> pd.DataFrame:
    """How many rows of each paper and kind have each verdict."""
    table = verdicts.groupby(["paper", "kind"], sort=False)["verdict"].value_counts().unstack(fill_value=0)
    found = [word for word in ORDER if word in table.columns]
    return table[found].reset_index()


def readable(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The columns people read, numbers rounded, intervals in one column."""
    table = verdicts.assign(interval=[_interval(*pair) for pair in zip(verdicts["low"], verdicts["high"], strict=True)])
    for column in ("published", "ours", "difference"):
        table[column] = [_number(value) for value in table[column]]
    return table


def markdown(verdicts: pd.DataFrame, papers: Mapping[str, Any], scale: str, failed: Sequence[str]) -> str:
    """The ledger as markdown."""
    lines = ["# Ledger", "", f"Scale: **{scale}**. {RULE}", "", counts(verdicts).to_markdown(index=False), ""]
    if failed:
        lines += ["## Failed", "", "These have no result, and no number here depends on them:", ""]
        lines += [*(f"- {line}" for line in failed), ""]
    table = readable(verdicts)
    for name, paper in papers.items():
        lines += [f"## {name}", "", f'{paper["authors"]}, "{paper["title"]}".', ""]
        for kind, title in TITLES.items():
            own = table[(table["paper"] == name) & (table["kind"] == kind)]
            shown = [column for column in SHOWN if column != "kind"]
            lines += [f"### {title}", "", own[shown].to_markdown(index=False, disable_numparse=True), ""]
        lines += ["### Errata", ""]
        lines += [
            f"{key}. {entry['text']} Check: `{entry['check']}`." for key, entry in paper.get("errata", {}).items()
        ]
    return "\n".join(lines) + "\n"


def page(verdicts: pd.DataFrame, papers: Mapping[str, Any], scale: str, failed: Sequence[str]) -> str:
    """The ledger as one self-contained, sortable html page."""
    template = Environment(autoescape=True).from_string(
        files("cutlayer.ledger").joinpath("page.html.jinja").read_text()
    )
    table = readable(verdicts)
    return template.render(
        rows=table.to_dict("records"), columns=["paper", *SHOWN], order=ORDER, papers=papers, scale=scale, rule=RULE,
        failed=failed,
        counts={verdict: int((table["verdict"] == verdict).sum()) for verdict in ORDER}, mark=MARK,
    )  # fmt: skip


TITLES = {"number": "Printed numbers", "claim": "Claims", "ours": "Ours, or on data of which the paper does not speak"}
RULE = (
    "A printed number holds if our whole 95% interval (seeds, and the number of tested rows) is within the spread that "
    "the paper prints or, where it prints none, 2 points of an accuracy or AUC, or 10% of another number; it differs "
    "if none of it is. A claim holds if the whole interval satisfies it and fails if the whole interval violates it; "
    "one about every case is held against the worst case. Else they are undecided. A tie is an exact one; there is no "
    "signal where the model, or the attack without a defense, is no better than chance. Reduced means smaller than the "
    "paper's sizes. Generated data get no verdict; what failed, does not apply or is there in part has no result; what "
    "needs data that are not public is not comparable."
)


def _number(value: float) -> str:
    if pd.isna(value):
        return ""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"


def _interval(low: float, high: float) -> str:
    if pd.isna(low) or pd.isna(high):
        return ""
    return "" if low == high else f"{low:.4g} to {high:.4g}"
