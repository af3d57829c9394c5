"""Random generators seeded by the name of a run, independently of the order of runs."""

from __future__ import annotations

import hashlib

import numpy as np


def seed_of(*name: object) -> int:
    """A 63-bit seed, a hash of the parts of `name`."""
    text = "\x1f".join(str(part) for part in name)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def generator(*name: object) -> np.random.Generator:
    """A numpy generator for the run with this name, e.g. `generator("bank", "none", 0, "split")`."""
    return np.random.default_rng(seed_of(*name))
