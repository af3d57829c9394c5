"""Vectorized reader of large files of separated values, in blocks of lines and in bounded memory.

Values are not quoted. A line with another number of fields, or a value that is not what its column holds, is an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

BLOCK = 1 << 20  # bytes read at a time; what is computed of them takes about twenty times as much
NEWLINE = ord("\n")
FNV_START, FNV_PRIME = 0x811C9DC5, 0x01000193


class Fields:
    """Fields (n, c) of a block of lines."""

    def __init__(self, text: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> None:
        self.text, self.starts, self.lengths = text, starts, lengths

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, columns: slice) -> Fields:
        """Fields of some of the columns."""
        return Fields(self.text, self.starts[:, columns], self.lengths[:, columns])

    def here(self) -> np.ndarray:
        """Mask (n, c) of fields that are not empty."""
        return self.lengths > 0

    def starting(self, letter: str) -> np.ndarray:
        """Mask (n, c) of fields that start with a letter."""
        return self.here() & (self._at(0) == ord(letter))

    def numbers(self, missing: int) -> np.ndarray:
        """Integers (n, c) int32; `missing` where a field is empty."""
        value = np.zeros(self.starts.shape, np.int64)
        negative = (self.text[self.starts] == ord("-")) & (self.lengths > 1)
        for place, inside in self._places():
            digit = self._at(place) - ord("0")
            digit[negative & (place == 0)] = 0
            if (digit[inside] > 9).any():
                raise ValueError(f"{self._first(inside & (digit > 9))!r} is not a whole number")
            value = np.where(inside, 10 * value + digit, value)
            if value.max(initial=0) >= 2**31:
                raise ValueError(f"{self._first(value >= 2**31)!r} is larger than 32 bits allow")
        value = np.where(negative, -value, value)
        return np.where(self.lengths == 0, missing, value).astype(np.int32)

    def hexadecimal(self, missing: int, mark: str = "", digits: int = 8) -> np.ndarray:
        """Numbers of so many hexadecimal digits after a mark (n, c) int32, of 32 bits all but the first.

        `missing` where a field is empty.
        """
        value = np.zeros(self.starts.shape, np.uint32)
        whole = self.lengths == len(mark) + digits
        wrong = ~whole & (self.lengths != 0)
        for place, letter in enumerate(mark.encode()):
            wrong |= whole & (self._at(place) != letter)
        for place in range(digits):
            nibble = NIBBLES[self._at(len(mark) + place)]
            wrong |= (nibble > 15) & whole
            value = value << 4 | nibble
        if wrong.any():
            after = f" after {mark!r}" if mark else ""
            raise ValueError(f"{self._first(wrong)!r} is not a number of {digits} hexadecimal digits{after}")
        return np.where(self.lengths == 0, missing, value & 0x7FFFFFFF).astype(np.int32)

    def hashes(self) -> np.ndarray:
        """The 32-bit FNV-1a hash of each field's bytes (n, c) int32, without its first bit."""
        value = np.full(self.starts.shape, FNV_START, np.uint32)
        for place, inside in self._places():
            value = np.where(inside, (value ^ self._at(place)) * np.uint32(FNV_PRIME), value)
        return (value & 0x7FFFFFFF).astype(np.int32)

    def _places(self) -> Iterator[tuple[int, np.ndarray]]:
        """Every place in a field, and which fields (n, c) are that long."""
        for place in range(self.lengths.max(initial=0)):
            yield place, self.lengths > place

    def _at(self, place: int) -> np.ndarray:
        """The byte at a place of every field, of another field where that one is shorter."""
        return self.text.take(self.starts + place, mode="clip")

    def _first(self, where: np.ndarray) -> str:
        row, column = np.argwhere(where)[0]
        start = self.starts[row, column]
        return self.text[start : start + self.lengths[row, column]].tobytes().decode(errors="replace")


NIBBLES = np.full(256, 16, np.uint8)
NIBBLES[list(b"0123456789abcdef")] = range(16)
NIBBLES[list(b"ABCDEF")] = range(10, 16)


def blocks(path: Path, columns: int, separator: str, header: str = "") -> Iterator[Fields]:
    """Yield the fields of a file's lines, some lines at a time; ValueError where a line has not `columns` of them."""
    with path.open("rb") as file:
        found = file.readline(BLOCK).decode(errors="replace").rstrip("\r\n") if header else ""
        if found != header:
            raise ValueError(f"its first line is {found[:200]!r}, not {header!r}")
        rest, done = b"", 1 if header else 0
        while more := file.read(BLOCK):
            text = rest + more
            if b"\r" in text:
                text = text.replace(b"\r\n", b"\n")
            lines, _, rest = text.rpartition(b"\n")
            if len(rest) > BLOCK:
                raise ValueError(f"it has a line of more than {BLOCK:,} bytes")
            if lines:
                part = _split(lines + b"\n", columns, separator, done)
                yield part
                done += len(part)
        if rest:
            yield _split(rest + b"\n", columns, separator, done)


def _split(lines: bytes, columns: int, separator: str, done: int) -> Fields:
    text = np.frombuffer(lines, np.uint8)
    newline = text == NEWLINE
    ends = np.flatnonzero(newline | (text == ord(separator))).astype(np.int32)
    last = np.flatnonzero(newline[ends])
    count = np.diff(last, prepend=-1)
    if (count != columns).any():
        row = int(np.argmax(count != columns))
        raise ValueError(f"line {done + row + 1:,} has {count[row]} fields, not {columns}")
    starts = np.concatenate([np.zeros(1, ends.dtype), ends[:-1] + 1])
    return Fields(text, starts.reshape(-1, columns), (ends - starts).reshape(-1, columns))
