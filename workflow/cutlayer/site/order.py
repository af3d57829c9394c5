"""Documents of the site, in reading order.

The Snakefile asks for them whenever it is parsed, and so in each job: only the standard library is imported here.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

ORDER = {  # group -> its documents; a pattern stands for those that are named nowhere, from A to Z
    "Start": ["README.md", "docs/first_hour.md", "docs/ledger_explained.md", "docs/scales.md", "docs/data.md",
              "docs/arena.md", "docs/glossary.md"],
    "Add your own": ["docs/your_own.md", "docs/add_a_method.md", "docs/add_a_dataset.md", "docs/add_a_paper.md",
                     "docs/paper_yaml.md"],
    "Run it elsewhere": ["docs/cluster.md", "docs/dvc.md", "docs/troubleshooting.md"],
    "Understand": [*(f"docs/games/{name}.md" for name in ("vertical", "split", "split_server", "federated", "*")),
                   *(f"docs/papers/{name}.md" for name in ("chebyshev", "marvell", "secdt", "tcpo", "tappfl", "*")),
                   "docs/readings/*.md", "docs/architecture.md", "docs/solvers.md", "docs/library.md", "docs/*.md"],
    "Measured": ["ARTIFACT-APPENDIX.md", "docs/artifact.md", "docs/audit_of_rows.md",
                 "docs/audit_of_sentences.md", "reference/history.md",
                 "workflow/benchmarks/*.md"],
    "Contribute": ["CONTRIBUTING.md", "docs/contests.md", "SECURITY.md", "CODE_OF_CONDUCT.md"],
}  # fmt: skip
HISTORY = "reference/history.md"
FOLDERS = ("docs/**/", "workflow/benchmarks/")


def texts() -> list[str]:
    """Paths of all documents, relative to the project's folder, which is the working directory."""
    found = {
        name for pattern in ("*.md", HISTORY, *(f"{folder}*.md" for folder in FOLDERS)) for name in _found(pattern)
    }
    return [name for names in groups(found).values() for name in names]


def pictures() -> list[str]:
    """Paths of the pictures of the documents."""
    return [name for folder in FOLDERS for name in _found(f"{folder}*.png")]


def groups(documents: Iterable[str]) -> dict[str, list[str]]:
    """Documents by group, in order; those without a group are left out."""
    left = set(documents)
    named = {name for patterns in ORDER.values() for name in patterns}
    grouped = {group: list(_taken(patterns, left, named)) for group, patterns in ORDER.items()}
    return {group: names for group, names in grouped.items() if names}


def _taken(patterns: Iterable[str], left: set[str], named: set[str]) -> Iterator[str]:
    """The documents that match the patterns, each removed from `left`."""
    for pattern in patterns:
        means = {name for name in left if name == pattern or (name not in named and fnmatchcase(name, pattern))}
        left -= means
        yield from sorted(means)


def _found(pattern: str) -> list[str]:
    return sorted(glob.glob(pattern, recursive=True))
