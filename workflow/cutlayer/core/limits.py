"""Declared limits of a method's parameters."""

from __future__ import annotations

import math
from typing import Any

Limits = dict[str, tuple[float | None, float | None]]  # parameter -> least and greatest value, None: any


def beyond(limits: Limits, parameter: str, value: Any) -> str:
    """What is expected of a number that is beyond its limits or not finite; empty if it fits or is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    if not math.isfinite(value):
        return "expected a finite number"
    least, most = limits.get(parameter, (None, None))
    if (least is None or value >= least) and (most is None or value <= most):
        return ""
    bounds = [f"at least {least:g}" if least is not None else "", f"at most {most:g}" if most is not None else ""]
    return " and ".join(filter(None, bounds))
