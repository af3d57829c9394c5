"""The type of a method's declared limits; `plugins.check_parameters` holds parameters against them."""

Limits = dict[str, tuple[float | None, float | None]]  # parameter -> least and greatest value, None: any
