"""The code that changed since the last run is named: what Python runs of it, not its comments."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutlayer.core.errors import MOST
from cutlayer.plan import code
from launch import changes

CODE = '"""A method."""\n\nRATE = 0.1  # of learning\n'


def write(name: str, text: str = CODE) -> str:
    """Write a file of code as a later process would find it."""
    Path(name).write_text(text)
    code.checksum.cache_clear()
    code.digest.cache_clear()
    return str(Path(name).absolute())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(code, "digested", {})
    (tmp_path / ".snakemake").mkdir()


def finished(*names: str) -> None:
    """A run whose jobs depend on these files."""
    code.digest(tuple(write(name) for name in names))
    changes.keep()


def reported(capsys: pytest.CaptureFixture[str]) -> str:
    changes.report()
    return capsys.readouterr().err


def test_what_changed_is_named_and_a_comment_is_no_change(capsys: pytest.CaptureFixture[str]) -> None:
    assert not reported(capsys)  # before the first run
    finished("a.py", "b.py")
    assert not reported(capsys)
    write("a.py", CODE.replace("of learning", "per step").replace("A method", "A defense"))
    assert not reported(capsys)
    write("b.py", CODE.replace("0.1", "0.2"))
    assert reported(capsys) == "Changed since the last run: b.py\n"
    finished("b.py")
    assert not reported(capsys)


def test_a_file_that_another_run_needs_stays_changed_until_one_with_it_finishes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    finished("a.py", "b.py")
    code.digested.clear()
    for name in ("a.py", "b.py"):
        write(name, CODE.replace("0.1", "0.2"))
    code.digest((str(Path("a.py").absolute()),))
    changes.keep()
    assert reported(capsys) == "Changed since the last run: b.py\n"


def test_a_removed_file_is_named_once_and_of_many_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{i:02}.py" for i in range(MOST + 2)]
    finished(*names)
    for name in names:
        Path(name).unlink()
    code.checksum.cache_clear()
    assert reported(capsys) == f"Changed since the last run: {', '.join(names[:MOST])} and 2 more\n"
    code.digested.clear()
    changes.keep()
    assert not reported(capsys)


def test_a_record_that_is_damaged_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    finished("a.py")
    changes.RECORD.write_text("{")
    assert not reported(capsys)
