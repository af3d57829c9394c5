"""Compressed images: opened with their expected format and size, and checksums of the decoded pixels."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import IO

import numpy as np
from PIL import Image


def opened(file: IO[bytes], kind: str, size: tuple[int, int], name: str) -> Image.Image:
    """The image in a file, in three colors; ValueError where it is not of this kind and size (width, height).

    `name` is what the error calls it: Pillow's own texts hold memory addresses and differ from run to run.
    """
    try:
        with Image.open(file, formats=[kind]) as image:
            if image.size != size:
                raise ValueError(f"{name} has {image.size} pixels; expected {size}")
            return image.convert("RGB")
    except (OSError, EOFError) as error:
        raise ValueError(f"{name} is truncated, or no {kind}") from error


def same(images: Iterator[np.ndarray], sha256: str, name: str) -> Iterator[np.ndarray]:
    """Pass on images (n, height, width, 3) uint8, some at a time; ValueError at the end if their sha256 is another."""
    digest = hashlib.sha256()
    for some in images:
        digest.update(np.ascontiguousarray(some).data)
        yield some
    if digest.hexdigest() != sha256:
        raise ValueError(
            f"{name} decodes to pixels with the sha256 {digest.hexdigest()}; expected {sha256}: "
            "another file, or another decoder than that of requirements.lock"
        )
