"""Markdown pages of the benchmarks: a title, paragraphs and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

RULES = {"l": "---", ">": "--:"}


def line(cells: Iterable[Any]) -> str:
    """One line of a table."""
    return "".join(f"| {cell} " if cell != "" else "| " for cell in cells) + "|"


def markdown(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], alignment: str, groups: Sequence[str] | None = None
) -> str:
    """A table, whose lines are printed as soon as they are there.

    The alignment has a letter for each column: l, or > for numbers. With groups, names of some columns in one, these
    are the head and the columns' names the first row.
    """
    rule = "|" + "|".join(RULES[letter] for letter in alignment) + "|"
    lines = [line(groups), rule, line(columns)] if groups else [line(columns), rule]
    print("\n".join(lines), flush=True)
    for row in rows:
        lines.append(line(row))
        print(lines[-1], flush=True)
    return "\n".join(lines)


def write(script: str, title: str, *parts: str) -> None:
    """Write the page next to the benchmark's file."""
    page = "\n\n".join([f"# {title}", *parts]) + "\n"
    Path(script).with_suffix(".md").write_text(page, encoding="utf-8")
