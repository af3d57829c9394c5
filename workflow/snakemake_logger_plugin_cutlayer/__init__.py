"""Progress of a workflow in one line: jobs done of all, time left, what runs. Snakemake finds it by the package's name.

Errors and warnings are shown in full. A dry run, --verbose and --printshellcmds show what Snakemake itself would show.
"""

from __future__ import annotations

import logging
import math
import shutil
import sys
import threading
import time
from collections import Counter

from snakemake_interface_logger_plugins.base import LogHandlerBase

EVERY = 10  # seconds between two looks at what runs, and between two lines of a log file, which also are 1% apart
QUIET = 600  # seconds after which a log file gets a line, whatever was done
BAR = 10  # characters
NAMED = 3  # jobs that run
EARLY = 0.05  # of the jobs: before so many are done their times say too little of the others'
NOISE = ("Select jobs", "Using shell", "Group jobs", "Conda env", "Singularity", "host:", "Assuming", "Provided")


class LogHandler(LogHandlerBase):
    """Writes the line over itself in a terminal, and line after line elsewhere."""

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        shown = self.common_settings
        self.stream = sys.stdout if shown.stdout else sys.stderr
        self.moves = self.stream.isatty()
        self.in_full = shown.dryrun or shown.verbose or shown.printshellcmds or shown.debug_dag
        self.start = time.monotonic()
        self.last, self.percent = -math.inf, -1
        self.done = self.total = 0
        self.running: dict[int, tuple[str, str, float]] = {}  # job -> its rule, its name, when it started
        self.left: Counter[str] = Counter()  # rule -> jobs that have not finished
        self.took: dict[str, list[float]] = {}  # rule -> seconds of its jobs
        threading.Thread(target=self._tick, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Show a message of Snakemake, or the progress that it reports."""
        try:
            event = getattr(record, "event", None)
            says = event is None and not str(record.msg).startswith(NOISE)
            if self.in_full or says or record.levelno >= logging.WARNING:
                self._write(self.format(record))
            if not self.in_full and (count := getattr(self, f"_{event}", None)):
                count(record)
        except Exception:
            self.handleError(record)

    def _run_info(self, record: logging.LogRecord) -> None:
        self.left = Counter({rule: count for rule, count in record.stats.items() if rule != "total"})
        self.total = self.left.total()

    def _job_info(self, record: logging.LogRecord) -> None:
        name = "/".join([record.rule_name, *(record.wildcards or {}).values()])
        self.running[record.jobid] = record.rule_name, name, time.monotonic()
        self._show()

    def _job_error(self, record: logging.LogRecord) -> None:
        self.running.pop(record.jobid, None)

    def _job_finished(self, record: logging.LogRecord) -> None:
        rule, _, since = self.running.pop(record.job_id)
        self.left[rule] -= 1
        self.took.setdefault(rule, []).append(time.monotonic() - since)

    def _progress(self, record: logging.LogRecord) -> None:
        self.done, self.total = record.done, record.total
        self._show()

    def _tick(self) -> None:
        """While a job takes long nothing is reported, and the time goes on all the same."""
        while True:
            time.sleep(EVERY)
            with self.lock:
                if self.running:
                    self._show()

    def _show(self) -> None:
        now, part, ended = time.monotonic(), self.done / self.total, self.done == self.total
        since = now - self.last
        if self.moves or ended or since >= QUIET or (since >= EVERY and int(100 * part) > self.percent):
            self.last, self.percent = now, int(100 * part)
            names = [name for _, name, _ in self.running.values()]
            runs = f"; {len(names)} running: {', '.join(names[:NAMED])}" if names else ""
            line = f"{self.percent:3}%  {self.done} of {self.total} jobs, {self._time(now)}{runs}"
            if self.moves:
                line = f"[{'#' * int(BAR * part):.<{BAR}}] {line}"[: shutil.get_terminal_size().columns - 1]
            self._write(line, end="\r" if self.moves and not ended else "\n")

    def _time(self, now: float) -> str:
        """Time left at the pace so far, if enough is done: a job takes as long as others of its rule, or as any."""
        every = [seconds for own in self.took.values() for seconds in own]
        if self.done == self.total or self.done < EARLY * self.total or not every:
            return f"after {_words(now - self.start)}"
        own = {rule: self.took.get(rule, every) for rule in self.left}
        rest = sum(count * sum(own[rule]) / len(own[rule]) for rule, count in self.left.items())
        return f"about {_words(rest * (now - self.start) / sum(every))} left"

    def _write(self, text: str, end: str = "\n") -> None:
        self.stream.write(f"\x1b[K{text}{end}" if self.moves else f"{text}{end}")
        self.stream.flush()


def _words(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 90
        else f"{seconds / 60:.0f} min"
        if seconds < 5400
        else f"{seconds / 3600:.1f} h"
    )
