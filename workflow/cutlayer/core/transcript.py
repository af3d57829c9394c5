"""Transcripts: the arrays that an adversary could see of a run, and views of them that enforce a threat model.

A transcript is a set of named arrays; an attack never gets one, it gets a `View`: the part that its
threat model allows. Asking a view for anything else is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import numpy as np

from . import artifacts
from .errors import InputError

Arrays = Mapping[str, np.ndarray]


class OutsideThreatModel(InputError):
    """An attack requested an array outside its threat model."""


class FailedRun(Exception):
    """The run of this transcript failed; the text is the reason."""


class View:
    """An attack's view: the arrays that its threat model allows, read-only, a random generator, and a device.

    They are copies: if an attack writes to them nevertheless, as through torch, no other attack or case is affected.
    """

    def __init__(
        self, attack: str, sees: Collection[str], arrays: Arrays, rng: np.random.Generator, device: str = "cpu"
    ) -> None:
        self._attack, self._sees, self.rng, self.device = attack, frozenset(sees), rng, device
        self._arrays = {name: _copied(value) for name, value in arrays.items() if name in sees}

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._arrays:
            return self._arrays[name]
        raise self._refusal(
            name, "which this protocol does not show" if name in self._sees else "outside this attack's threat model"
        )

    def __contains__(self, part: str) -> bool:
        """Whether the view has a part that the threat model allows; a setup need not record it.

        Raises:
            OutsideThreatModel: the threat model does not allow this part, recorded or not.

        """
        if part not in self._sees:
            raise self._refusal(part, "outside this attack's threat model")
        return part in self._arrays

    def _refusal(self, part: str, why: str) -> OutsideThreatModel:
        seen = f"it sees {', '.join(sorted(self._arrays))}"
        return OutsideThreatModel(f"attack.{self._attack}", f"asks for {part!r}, {why}", seen)


def _copied(array: np.ndarray) -> np.ndarray:
    own = np.array(array)
    own.setflags(write=False)
    return own


def save(path: str | Path, settings: Mapping[str, Arrays], shared: Arrays, failed: str = "") -> None:
    """Write the transcript of one seed of a run: arrays of each setting of its defense, and those that all share.

    `failed` is the reason why there are none.
    """
    arrays = {f"shared|{name}": value for name, value in shared.items()}
    for setting, own in settings.items():
        arrays |= {f"setting {setting}|{name}": value for name, value in own.items()}
    artifacts.write_arrays(path, arrays, {"settings": list(settings), "failed": failed})


def load(path: str | Path) -> dict[str, dict[str, np.ndarray]]:
    """Read a transcript: setting -> its arrays, the shared ones included.

    Raises:
        FailedRun: there are none, as the run failed.

    """
    arrays, meta = artifacts.read_arrays(path)
    if meta["failed"]:
        raise FailedRun(meta["failed"])
    return {setting: dict(_of(arrays, "shared", f"setting {setting}")) for setting in meta["settings"]}


def _of(arrays: Arrays, *owners: str) -> Iterable[tuple[str, np.ndarray]]:
    for key, value in arrays.items():
        owner, name = key.rsplit("|", 1)
        if owner in owners:
            yield name, value


def of_setting(truth: Arrays, setting: str) -> dict[str, np.ndarray]:
    """The truth under a setting: the arrays named `<setting>|<name>`, and those of all settings."""
    own = {
        name.rpartition("|")[2]: value for name, value in truth.items() if name.rpartition("|")[:2] == (setting, "|")
    }
    return {name: value for name, value in truth.items() if "|" not in name} | own
