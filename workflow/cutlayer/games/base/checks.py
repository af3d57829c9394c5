"""Looks at the arrays and tensors that a defense returns; each check raises an InputError that names the hook.

Whether every number is finite takes longer to see than all the rest. A number that is not spreads to all later steps,
so `Protocol.outcome` looks at one result of several, and at those before it only where that one is not finite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from cutlayer.core.errors import InputError

NUMBERS = "finite numbers expected"
TOGETHER, ROOM = 8, 2**22  # how many results wait to be looked at, and how many bytes they and their sources take
SUM = 1e-6  # how far from 1 a row of probabilities may add up to


_Result = tuple[str, str, Any, Any]  # who, which hook, what it returned, what that was made of if it need not be finite


class _Waiting:
    """Results that are looked at together, without what autograd remembers of them."""

    def __init__(self) -> None:
        self.results: list[_Result] = []
        self.size = 0  # in bytes

    def add(self, name: str, hook: str, found: Any, source: Any) -> None:
        """Keep a result; look at all of them if they are many, and the last one is not finite."""
        if found.requires_grad:
            found = found.detach()
        if source is not None:
            source = source.detach() if source.requires_grad else source
            self.size += source.nbytes
        self.size += found.nbytes
        self.results.append((name, hook, found, source))
        if len(self.results) == TOGETHER or self.size > ROOM:
            if not _finite(found):
                _look(self.results)
            self.results, self.size = [], 0


_WAITING: ContextVar[_Waiting | None] = ContextVar("_WAITING", default=None)


@contextmanager
def a_few_at_once() -> Iterator[None]:
    """Within it whether tensors are finite is looked at a few steps later, and at the end, however that comes."""
    waiting = _Waiting()
    token = _WAITING.set(waiting)
    try:
        yield
    except (MemoryError, OSError):
        raise
    except Exception:
        _look(waiting.results)
        raise
    else:
        _look(waiting.results)
    finally:
        _WAITING.reset(token)


def like(name: str, hook: str, found: Any, meant: Any) -> None:
    """Raise unless `found` has the kind, shape, dtype and device of `meant`, and is finite wherever that one is."""
    shaped(name, hook, found, meant.shape, meant.dtype, meant.device)
    if getattr(found, "requires_grad", False) and not meant.requires_grad:
        raise InputError(name, f"{hook} returned a tensor that requires a gradient", "detach it")
    follows(name, hook, found, meant)


def numbers(name: str, hook: str, found: Any, shape: Sequence[int], dtype: Any, device: Any) -> None:
    """Raise unless `found` is as `shaped` and `finite` want it."""
    shaped(name, hook, found, shape, dtype, device)
    _note(name, hook, found, None)


def shaped(name: str, hook: str, found: Any, shape: Sequence[int], dtype: Any, device: Any) -> None:
    """Raise unless `found` has this shape, dtype and device; a dtype of torch's means a tensor, of numpy's an array."""
    try:
        if found.shape == shape and found.dtype == dtype and found.device == device:
            return
    except (AttributeError, TypeError):  # it is neither an array nor a tensor, or the other of the two
        pass
    raise InputError(name, f"{hook} returned {_said(found)}", f"{_described(shape, dtype, device)} expected")


def finite(name: str, hook: str, found: Any) -> None:
    """Raise unless all numbers are finite."""
    if not _finite(found):
        raise InputError(name, f"{hook} returned a number that is not finite", NUMBERS)


def follows(name: str, hook: str, found: Any, source: Any) -> None:
    """Raise unless all numbers are finite, or those that they were made of are not either: a training that diverged."""
    _note(name, hook, found, source)


def count(name: str, hook: str, found: Any, at_least: int) -> None:
    """Raise unless it is a whole number and not less than that."""
    if not isinstance(found, int) or found < at_least:
        raise InputError(name, f"{hook} returned {found!r}", f"a whole number from {at_least} expected")


def deviation(name: str, hook: str, found: Any) -> None:
    """Raise unless it is a finite number and not negative."""
    if not isinstance(found, float | int) or not 0 <= found < math.inf:
        raise InputError(name, f"{hook} returned {found!r}", "a finite number from 0 expected")


def several(name: str, hook: str, found: Any, parts: Sequence[str]) -> None:
    """Raise unless it is a tuple of so many parts."""
    if not isinstance(found, tuple) or len(found) != len(parts):
        raise InputError(name, f"{hook} returned a {type(found).__name__}", f"({', '.join(parts)}) expected")


def truth(name: str, hook: str, found: Any) -> None:
    """Raise unless it is True or False."""
    if not isinstance(found, bool):
        raise InputError(name, f"{hook} returned {found!r}", "True or False expected")


def distributions(name: str, hook: str, found: Any) -> None:
    """Raise unless the rows (N, k) are probabilities: finite, not negative, and they add up to 1."""
    finite(name, hook, found)
    worst = float(abs(found.sum(axis=1) - 1).max(initial=0.0))
    if worst > SUM:
        wrong = f"{hook} returned rows that add up to 1 only within {worst:.2g}"
        raise InputError(name, wrong, "rows of probabilities expected")
    if len(found) and found.min() < 0:
        raise InputError(name, f"{hook} returned {found.min():.3g} as a probability", "0 or more expected")


def _note(name: str, hook: str, found: Any, source: Any) -> None:
    """Look at a result now, or have it wait with others."""
    waiting = _WAITING.get()
    if waiting is None or not hasattr(found, "requires_grad"):
        _look([(name, hook, found, source)])
    else:
        waiting.add(name, hook, found, source)


def _look(results: Iterable[_Result]) -> None:
    """Raise if the first that is not finite was made of finite numbers."""
    for name, hook, found, source in results:
        if not _finite(found):
            if source is None or _finite(source):
                finite(name, hook, found)
            return


def _finite(found: Any) -> bool:
    """Whether all numbers are; a sum is cheaper than a look at each, and finite if they are, but for huge ones."""
    return math.isfinite(found.sum().item()) or bool((abs(found) < math.inf).all())


def _said(found: Any) -> str:
    if all(hasattr(found, part) for part in ("shape", "dtype", "device")):
        return _described(found.shape, found.dtype, found.device)
    return f"a {type(found).__name__}"


def _described(shape: Sequence[int], dtype: Any, device: Any) -> str:
    kind = "a tensor" if str(dtype).startswith("torch.") else "an array"
    return f"{kind} of shape {tuple(shape)}, {str(dtype).removeprefix('torch.')}, on {device}"
