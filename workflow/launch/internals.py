"""Undocumented parts of Snakemake that the rules use, as they are in the version READ_IN.

Options that a profile can set are in profiles/.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from cutlayer.core.errors import InputError

READ_IN = "9.27.1"


class Internals:
    """Facts of a `workflow` of Snakemake.

    Raises:
        InputError: this version of Snakemake does not have it any more.

    """

    def __init__(self, workflow: Any) -> None:
        self._workflow = workflow

    def _get(self, path: str, of: Any = None) -> Any:
        try:
            return operator.attrgetter(path)(self._workflow if of is None else of)
        except AttributeError as error:
            raise InputError(f"snakemake.{path}", f"is gone ({error})", f"expected Snakemake {READ_IN}") from None

    def before_running(self, action: Callable[[], None], report: Callable[[], None]) -> None:
        """Call `action` before Snakemake takes its lock and reads the state of files, unless it will run nothing.

        `onstart` comes after both. What runs nothing (--lint, --summary, --dry-run) must change nothing. `report` is
        called before a dry run too.
        """
        execute = self._get("execute")

        def after_action(*, executor_plugin: Any, **settings: Any) -> Any:
            if self.is_main:
                report()
                if not self._get("common_settings.dryrun_exec", executor_plugin):
                    action()
            return execute(executor_plugin=executor_plugin, **settings)

        self._workflow.execute = after_action

    def prefer(self, *rules: str) -> None:
        """Prefer the earlier of these rules where several make a file, as a `ruleorder` with typed names does."""
        self._get("ruleorder")(*rules)

    @property
    def is_main(self) -> bool:
        """Whether this is the process that the user started, not one that it started for a job."""
        return bool(self._get("is_main_process"))

    @property
    def config_files(self) -> list[str]:
        """Files that the configuration was read from."""
        return [*map(str, self._get("configfiles"))]

    @property
    def max_gpus(self) -> int | None:
        """The number of --resources gpu=, if there is one."""
        value: int | None = self._get("global_resources.get")("gpu").value
        return value

    @property
    def submits(self) -> bool:
        """Whether jobs go to a cluster, in groups."""
        return bool(self._get("resource_settings.nodes"))

    @property
    def touches(self) -> bool:
        """Whether files are only touched (--touch)."""
        return bool(self._get("touch"))

    @property
    def runs_here(self) -> bool:
        """Whether jobs are processes of this machine."""
        return bool(self._get("local_exec"))

    @property
    def keeps_going(self) -> bool:
        """Whether --keep-going was given."""
        return bool(self._get("execution_settings.keep_going"))

    @property
    def executor(self) -> tuple[str, Any]:
        """The name of the executor, and its settings, which can be changed until the first job."""
        return self._get("executor_plugin.name"), self._get("executor_settings")

    def files_read(self) -> Iterator[str]:
        """Inputs of the jobs that will run."""
        for job in self._get("dag.needrun_jobs")():
            if not self._get("is_norun", job):
                yield from self._get("input", job)
