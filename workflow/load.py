"""Read released transcripts and their truth with numpy alone; no other module of the project is needed.

Each file is a safetensors file: arrays, and a checksum over them. `settings` reads a `transcript` file: what an
adversary saw of one seed of a run. `arrays` reads any, such as the `truth` file beside it.

    import load
    for setting, seen in load.settings("results/runs/digits_vs_rest/max_norm/seed0.transcript.safetensors").items():
        print(setting, {name: array.shape for name, array in seen.items()})
"""

import hashlib
import json
from pathlib import Path

import numpy as np

TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip


def settings(path: str | Path) -> dict[str, dict[str, np.ndarray]]:
    """Setting of the defense -> name -> array; no setting where the run failed."""
    found, meta = _read(path)
    seen = {setting: {} for setting in meta["settings"]}
    for key, array in found.items():
        owner, name = key.rsplit("|", 1)
        for setting, own in seen.items():
            if owner in ("shared", f"setting {setting}"):
                own[name] = array
    return seen


def arrays(path: str | Path) -> dict[str, np.ndarray]:
    """Name -> array; one named `<setting>|<name>` is of that setting alone."""
    return _read(path)[0]


def _read(path):
    content = Path(path).read_bytes()
    try:
        start = 8 + int.from_bytes(content[:8], "little")
        entries = json.loads(content[8:start])
        signed = json.loads(entries.pop("__metadata__")["cutlayer"])
        found = {name: _array(content[start:], **entry) for name, entry in entries.items()}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} cannot be read ({error})") from error
    sums = {
        name: [array.dtype.str, list(array.shape or (1,)), _sha256(array.tobytes())] for name, array in found.items()
    }
    if signed["sha256"] != _sha256(json.dumps([sums, signed["meta"]], sort_keys=True).encode()):
        raise ValueError(f"{path} is not as it was written: its checksum differs")
    return found, signed["meta"]


def _array(content, dtype, shape, data_offsets):
    return np.frombuffer(content[slice(*data_offsets)], TYPES[dtype]).reshape(shape)


def _sha256(content):
    return hashlib.sha256(content).hexdigest()
