"""The type of a method's declared limits, against which `plugins.check_parameters` checks its parameters."""

Limits = dict[str, tuple[float | None, float | None]]  # parameter -> least and greatest value, None: any
