"""What trials showed on this machine, kept in a file: a plan of other sizes then makes only the trials that are new."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cutlayer.core.files import replacing


class Store:
    """Results of trials by what was tried; without a file they are forgotten at the end."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}

    def once(self, what: Any, trial: Callable[[], Any]) -> Any:
        """The result of a trial, made now unless it is known."""
        key = hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:24]
        if key not in self._known:
            self._known[key] = trial()
            if self._file:
                with replacing(self._file) as temporary:
                    temporary.write_text(json.dumps(self._known), encoding="utf-8")
        return self._known[key]
