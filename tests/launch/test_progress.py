"""The line of progress: it counts to the end, errors are in full, and what asks for all gets all."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from collections import Counter
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

import snakemake_logger_plugin_cutlayer as plugin
from snakemake_logger_plugin_cutlayer import LogHandler

ROOT = Path(__file__).parents[2]
SNAKEFILE = """
rule all:
    input: expand("made{n}", n=range(3))

rule made:
    output: "made{n}"
    shell: "test {wildcards.n} != {config[fails]}; touch {output}"
"""


def command(folder: Path, *arguments: str, fails: int = 9) -> list[str]:
    (folder / "Snakefile").write_text(SNAKEFILE)
    options = ["--logger", "cutlayer", "--cores", "1", *arguments, "--config", f"fails={fails}"]
    return [sys.executable, "-m", "snakemake", *options]


def said(folder: Path, *arguments: str, fails: int = 9) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    done = subprocess.run(
        command(folder, *arguments, fails=fails),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert bool(done.returncode) == (fails < 3), done.stderr
    return done.stdout + done.stderr


def test_a_log_file_has_few_lines_and_the_last_one_is_the_end(tmp_path):
    text = said(tmp_path)
    counts = re.findall(r"^ *(\d+)%  (\d+) of 4 jobs", text, flags=re.M)
    assert (counts[0], counts[-1]) == (("0", "0"), ("100", "4"))
    assert not re.search("Select jobs|Execute|\x1b|\r", text)
    assert "Nothing to be done" in said(tmp_path)


def test_an_error_is_shown_in_full(tmp_path):
    text = said(tmp_path, fails=1)
    assert "Error in rule made:" in text
    assert "output: made1" in text
    assert "100%" not in text


@pytest.mark.parametrize(
    ("asks", "shows"), [("--dry-run", "rule made:"), ("--printshellcmds", "Shell command: test 2|test 2 != 9")]
)
def test_what_asks_for_all_shows_what_snakemake_does(tmp_path, asks, shows):
    assert re.search(shows, said(tmp_path, asks))


def test_quiet_shows_no_progress(tmp_path):
    assert "jobs" not in said(tmp_path, "--quiet").replace("Building DAG of jobs...", "")


def test_a_terminal_has_one_line_that_moves(tmp_path):
    ours, theirs = pty.openpty()
    environment = os.environ | {"PYTHONPATH": str(ROOT / "workflow")}
    with subprocess.Popen(command(tmp_path), cwd=tmp_path, env=environment, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        text = b""
        while more := _read(ours):
            text += more
    assert process.returncode == 0
    moves = re.findall(rb"\x1b\[K\[[#.]{10}\] +(\d+)%[^\r\n]*\r(?!\n)", text)
    assert [int(one) for one in moves] == sorted(int(one) for one in moves)
    assert len(moves) > 4
    assert re.search(rb"\[#{10}\] 100%  4 of 4 jobs", text)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.parametrize(("done", "says"), [(4, "after "), (5, "about ")])
def test_the_time_left_is_said_once_enough_jobs_are_done(done, says):
    handler = object.__new__(LogHandler)
    handler.start, handler.done, handler.total = 0.0, done, 100
    handler.left, handler.took = Counter(made=100 - done), {"made": [1.0] * done}
    assert handler._time(10.0).startswith(says)


def test_a_job_that_takes_long_is_not_silent(monkeypatch):
    monkeypatch.setattr(plugin, "EVERY", 0.01)
    monkeypatch.setattr(plugin, "QUIET", 0.02)
    asks = SimpleNamespace(stdout=False, dryrun=False, verbose=False, printshellcmds=False, debug_dag=False)
    handler = LogHandler(asks, None)
    with handler.lock:
        handler.stream, handler.moves, handler.total = StringIO(), False, 2
        handler.running[0] = "made", "made/0", time.monotonic()
    deadline = time.monotonic() + 30
    while handler.stream.getvalue().count("0 of 2 jobs") < 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    with handler.lock:
        handler.running.clear()
