"""`make docs`: which verdicts of reference/claims.csv changed, when and why, into reference/history.md.

Each commit that changed one adds a section: its date and subject, which says why, and a line for each item and change.
What is written stays as it is; a commit that the file has is left out. Raises InputError outside a git repository.
"""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from cutlayer.core.errors import InputError
from cutlayer.core.files import replacing
from cutlayer.ledger import overview

from .published import FOLDER

CLAIMS, HISTORY = FOLDER / "claims.csv", FOLDER / "history.md"
KEY = ("paper", "kind", "item", "exhibit", "statement", "setup", "dataset")  # what identifies a row
HEAD = """# History of verdicts

Each section is a commit that changed verdicts of the reference run: its date, its subject, and how many rows of which
item changed, with their data. Rows that came or went are counted. `make docs` adds sections, and changes none.
"""
WIDTH = 120
SHOWN = 4  # data of a line that are named
DIGITS = 8  # of a commit


def update(folder: Path) -> int:
    """Add what the git history of this folder has and the page lacks; returns how many sections were added."""
    page = folder / HISTORY
    text = page.read_text(encoding="utf-8") if page.exists() else HEAD
    known = tuple(re.findall(r"^## [\d-]+ \((\w+)\)$", text, flags=re.M))  # beginnings: git abbreviates as it likes
    commits = _git(folder, "log", "--first-parent", "--reverse", "--format=%H %as %s", "--", str(CLAIMS)).splitlines()
    added = 0
    before: dict[tuple[str, ...], str] = {}
    for line in commits:
        commit, date, subject = line.split(" ", 2)
        after = _verdicts(_git(folder, "show", f"{commit}:{CLAIMS.as_posix()}"))
        changes = [*_changes(before, after)] if before else []
        if changes and not commit.startswith(known):
            why = textwrap.fill(subject, WIDTH, break_long_words=False)
            text += "\n".join([f"\n## {date} ({commit[:DIGITS]})\n", f"{why}\n", *changes, ""])
            added += 1
        before = after
    with replacing(page) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return added


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise InputError("history.git", done.stderr.strip() or "git failed", "expected a git repository")
    return done.stdout


def _verdicts(table: str) -> dict[tuple[str, ...], str]:
    """Verdict, without the mark of reduced rows, by what identifies a row."""
    rows = csv.DictReader(io.StringIO(table))
    return {tuple(row.get(name) or "" for name in KEY): overview.plain(row["verdict"]) for row in rows}


def _changes(before: dict[tuple[str, ...], str], after: dict[tuple[str, ...], str]) -> Iterator[str]:
    """A line for each paper, item and change of verdict; then what came and went."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for key in before.keys() & after.keys():
        if before[key] != after[key]:
            row = dict(zip(KEY, key, strict=True))
            found.setdefault((row["paper"], row["item"], before[key], after[key]), []).append(
                row["setup"] or row["dataset"]
            )
    for (paper, item, old, new), data in sorted(found.items()):
        named = [*dict.fromkeys(sorted(data))]
        more = f" and {len(named) - SHOWN} more" if len(named) > SHOWN else ""
        line = f"- {paper} `{item}`: {old} → {new}, {_rows(len(data))} ({', '.join(named[:SHOWN])}{more})"
        yield textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False)
    for word, rows in (("new", after.keys() - before.keys()), ("gone", before.keys() - after.keys())):
        if rows:
            yield f"- {_rows(len(rows))} {word}"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


if __name__ == "__main__":
    try:
        print(f"{HISTORY}: {update(Path())} sections added")
    except InputError as error:
        sys.exit(f"error: {error}")
