"""Snakemake that asks SLURM every second; the plugin waits 10 s longer after each time that nothing had finished.

It hears Ctrl-C even when the tests were started in the background of a shell script, which has it ignored.
"""

from __future__ import annotations

import signal

from snakemake.cli import main
from snakemake_executor_plugin_slurm import Executor

Executor.next_seconds_between_status_checks = property(lambda self: 1, lambda self, value: None)
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main()
