"""Every example of docs/library.md runs as printed there, and prints what the page says."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/library.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), flags=re.S | re.M)


def run(word: str) -> None:
    """The one example that has this word."""
    (example,) = (block for block in BLOCKS if word in block)
    exec(compile(example, PAGE.name, "exec"), {})


def test_there_are_two_examples() -> None:
    assert len(BLOCKS) == 2


def test_the_polytope_example_runs(capsys) -> None:
    run("polytope")
    measured, closed_form = map(float, capsys.readouterr().out.split())
    assert 0 < measured <= closed_form
    assert f"{measured:.4f} and {closed_form:.4f}" in PAGE.read_text()


def test_the_length_tells_nothing_of_what_is_sent_and_off_axis_does(capsys) -> None:
    run("Marvell")
    lines = capsys.readouterr().out.splitlines()
    found = {name: float(value) for name, value in (line.split(": ") for line in lines)}
    assert found["length, bare"] > 0.95
    assert abs(found["length, sent"] - 0.5) < 0.1
    assert found["off_axis"] > 0.95
