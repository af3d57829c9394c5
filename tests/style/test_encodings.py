"""Text is UTF-8 whatever the locale: each call that reads or writes text says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "workflow").rglob("*.py"), *(ROOT / "docs").glob("*.py")])


def is_text(call: ast.Call) -> bool:
    """Whether a call reads or writes text as the locale says."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    of_path = isinstance(call.func, ast.Attribute)
    name = call.func.attr if of_path else getattr(call.func, "id", "")
    if {"encoding", "fileobj"} & {*named}:
        return False
    if name in ("open", "fdopen"):  # of a path the mode is the first argument; archives have a name there
        (mode,) = call.args[int(not of_path or name == "fdopen") :][:1] or [named.get("mode", ast.Constant("r"))]
        return isinstance(mode, ast.Constant) and {*str(mode.value)} <= {*"rwaxt+"}
    return name in ("read_text", "write_text") or ast.unparse(named.get("text", ast.Constant(None))) == "True"


def found(source: bytes) -> Iterator[int]:
    """The lines of such calls."""
    return (node.lineno for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and is_text(node))


def test_no_text_depends_on_the_locale() -> None:
    assert not [f"{file.relative_to(ROOT)}:{line}" for file in FILES for line in found(file.read_bytes())]


@pytest.mark.parametrize(
    ("call", "depends"),
    [
        ("path.read_text()", True),
        ("path.write_text(text)", True),
        ("path.open()", True),
        ("path.open('w', newline='')", True),
        ("open(path)", True),
        ("open(path, mode='a')", True),
        ("subprocess.run(command, text=True)", True),
        ("path.read_text(encoding='utf-8')", False),
        ("path.open('rb')", False),
        ("open(path, 'wb')", False),
        ("subprocess.run(command, encoding='utf-8')", False),
        ("gzip.open(path)", False),
        ("os.fdopen(handle, 'w')", True),
    ],
)
def test_what_depends_on_the_locale(call: str, depends: bool) -> None:
    assert [*found(call.encode())] == ([1] if depends else [])
