"""What changed since the reference run that may change its numbers.

A change counts unless it is seen here that no number can depend on it. Of the library those files count that a job of
these papers imports, compared without comments and docstrings; of params.yaml what these papers use at the reference's
scale; a paper.yaml without the words that only people read. How verdicts are given does not count: `make docs` gives
them again, and refuses others (`cutlayer.reference.reasons`).
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from cutlayer.core.errors import InputError
from cutlayer.plan import families
from cutlayer.plan.sizes import FULL_SCALE
from cutlayer.reference.publish import CODE

from . import depends, git

PARAMS, PAPER, PUBLISHED = "params.yaml", "paper.yaml", "published.csv"
NO_NUMBER = {  # files and folders (with a slash at the end) -> why a run has the same numbers without them
    "rules/ledger.smk": "gives verdicts, which are given again",
    "rules/site.smk": "makes the pages, of what was found",
    "rules/tried.smk": "is for methods outside the tree, of which the reference has none",
    "workflow/benchmarks/": "measures the solvers and the machine; of it the ledger has hours only",
    "workflow/cutlayer/exhibits/": "draws what was found",
    "workflow/cutlayer/site/": "shows what was found",
    "workflow/launch/trying.py": "is for methods outside the tree",
    "workflow/profiles/": "says where jobs run",
    "workflow/release/": "looks and packs",
    "workflow/report/": "has the words of Snakemake's report",
    "workflow/scripts/site.py": "calls the site",
    "workflow/scripts/tried.py": "is for methods outside the tree",
    "workflow/tracking/": "tells DVC what there is",
}
LIBRARY, DECIDES = "workflow/cutlayer/", "workflow/cutlayer/plan/"  # the latter says what runs, whoever imports it
# Other scales' sizes are not those of the reference, but for the paper's own: they decide which rows are `(reduced)`.
# `papers` may have more by now: whether all are published is looked at on its own.
NO_PARAMS = ("scale", "mirror", "papers")
NO_SIZES = ("cluster",)
# Of a paper.yaml. What a reading decides is said of the numbers that are not judged, too (`decides`).
WORDS = {"title", "authors", "caption", "text", "place", "rule", "why", "main", "readings"}
DEPTH = 3  # keys that are named of what differs: scales.reference.split


def since(root: Path, commit: str, scale: str, papers: Iterable[str]) -> list[str]:
    """The files, with the keys of the yaml, that changed since a commit and may change numbers of these papers."""
    papers = [*papers]  # gone through twice
    files = git.told(root, "diff", "--name-only", "--no-renames", "-z", commit, "HEAD", "--", *CODE).split("\0")
    others = {file for file in files if _paper(file) and _paper(file) not in set(papers)}
    used = depends.used(root, scale, papers)
    counted = [file for file in files if file and file not in others and not _without_numbers(file, used.code)]
    return [said for file in counted if (said := _differing(root, commit, file, scale, used))]


def _without_numbers(file: str, code: Set[str]) -> bool:
    if any(file == place or (place.endswith("/") and file.startswith(place)) for place in NO_NUMBER):
        return True
    return file.startswith(LIBRARY) and file.endswith(".py") and not file.startswith(DECIDES) and file not in code


def _paper(file: str) -> str:
    """The paper that a file is of alone; empty if there is none."""
    parts = PurePosixPath(file).parts
    return parts[2] if parts[:2] == ("workflow", "papers") and len(parts) > 3 else ""


def _differing(root: Path, commit: str, file: str, scale: str, used: depends.Used) -> str:
    """The file, with what differs if that can be told; empty if no number depends on it."""
    before, after = (git.content(root, revision, file) for revision in (commit, "HEAD"))
    if before is None or after is None:
        return file
    keys: list[str] | None = None
    if file == PARAMS:
        today = yaml.safe_load(after)
        then, now = (_at_scale(used.part(own, today), scale) for own in (yaml.safe_load(before), today))
        keys = [*_apart(then, now)]
    elif _paper(file) and file.endswith(PAPER):
        keys = _keys_of_paper(root, commit, file)
    elif file.endswith(".py"):
        return file if _code(before) != _code(after) else ""
    if keys is None:
        return file
    return f"{file} ({', '.join(keys)})" if keys else ""


def _at_scale(config: Mapping[str, Any], scale: str) -> dict[str, Any]:
    """What params.yaml says of a run at this scale."""
    scales = {name: config["scales"].get(name) or {} for name in (scale, FULL_SCALE)}
    sizes = {name: {k: v for k, v in own.items() if k not in NO_SIZES} for name, own in scales.items()}
    return {key: value for key, value in config.items() if key not in NO_PARAMS} | {"scales": sizes}


def _keys_of_paper(root: Path, commit: str, file: str) -> list[str] | None:
    """What differs of a paper, whose entries are written once for many; None if one of both cannot be read today."""
    try:
        before, after = (_wordless(_read(root, revision, file)) for revision in (commit, "HEAD"))
        return [*_apart(before, after)]
    except (InputError, yaml.YAMLError):
        return None


def _read(root: Path, revision: str, file: str) -> dict[str, Any]:
    """A paper in full, as it was: its numbers are the rows that it had then."""
    with tempfile.TemporaryDirectory() as name:
        for beside in (PAPER, PUBLISHED):
            text = git.content(root, revision, str(PurePosixPath(file).with_name(beside)))
            (Path(name) / beside).write_text(text or "")
        return families.read(Path(name), file)


def _wordless(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {key: _wordless(value) for key, value in content.items() if key not in WORDS}
    return [*map(_wordless, content)] if isinstance(content, list) else content


def _apart(before: Any, after: Any, depth: int = DEPTH, where: str = "") -> Iterator[str]:
    """The keys, with those above them, under which two contents differ."""
    if before == after:
        return
    if depth and isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*before, *after]):
            yield from _apart(before.get(key), after.get(key), depth - 1, f"{where}.{key}".removeprefix("."))
    else:
        yield where


def _code(text: str) -> str:
    """What Python would run: neither comments nor docstrings nor where lines end."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and _documented(node):
            node.body = node.body[1:]
    return ast.dump(tree)


def _documented(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return ast.get_docstring(node, clean=False) is not None
