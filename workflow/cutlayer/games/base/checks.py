"""Checks of the arrays and tensors that a defense's hooks return; each raises an InputError that names the hook.

Checking that every number is finite takes longer than all the rest. A number that is not finite spreads to all later
steps, so `Protocol.outcome` checks one result of several, and those before it only where that one is not finite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from cutlayer.core.errors import InputError

NUMBERS = "expected finite numbers"
TOGETHER, ROOM = 8, 2**22  # how many results wait to be checked, and how many bytes they and their sources take
SUM = 1e-6  # tolerance on the sum of a row of probabilities


_Result = tuple[str, str, Any, Any]  # who, which hook, what it returned, what that was made of if it need not be finite


class _Waiting:
    """Results that wait to be checked together, detached from the autograd graph."""

    def __init__(self) -> None:
        self.results: list[_Result] = []
        self.size = 0  # in bytes

    def add(self, name: str, hook: str, found: Any, source: Any) -> None:
        """Add a result; check all that wait if they are many and the last one is not finite."""
        if found.requires_grad:
            found = found.detach()
        if source is not None:
            source = source.detach() if source.requires_grad else source
            self.size += source.nbytes
        self.size += found.nbytes
        self.results.append((name, hook, found, source))
        if len(self.results) == TOGETHER or self.size > ROOM:
            if not _finite(found):
                _check_finite(self.results)
            self.results, self.size = [], 0


_WAITING: ContextVar[_Waiting | None] = ContextVar("_WAITING", default=None)


@contextmanager
def deferred() -> Iterator[None]:
    """Within this context whether tensors are finite is checked a few steps later, and at the end or at an error."""
    waiting = _Waiting()
    token = _WAITING.set(waiting)
    try:
        yield
    except (MemoryError, OSError):
        raise
    except Exception:
        _check_finite(waiting.results)
        raise
    else:
        _check_finite(waiting.results)
    finally:
        _WAITING.reset(token)


def like(name: str, hook: str, found: Any, expected: Any) -> None:
    """Raise unless `found` has the type, shape, dtype and device of `expected`, and is finite if that is."""
    shaped(name, hook, found, expected.shape, expected.dtype, expected.device)
    if getattr(found, "requires_grad", False) and not expected.requires_grad:
        raise InputError(name, f"{hook} returned a tensor that requires a gradient", "detach it")
    follows(name, hook, found, expected)


def numbers(name: str, hook: str, found: Any, shape: Sequence[int], dtype: Any, device: Any) -> None:
    """Raise unless `found` has this shape, dtype and device, and all its numbers are finite."""
    shaped(name, hook, found, shape, dtype, device)
    _note(name, hook, found, None)


def shaped(name: str, hook: str, found: Any, shape: Sequence[int], dtype: Any, device: Any) -> None:
    """Raise unless `found` has this shape, dtype and device; a dtype of torch's means a tensor, of numpy's an array."""
    try:
        if found.shape == shape and found.dtype == dtype and found.device == device:
            return
    except (AttributeError, TypeError):  # neither an array nor a tensor, or the other of the two
        pass
    raise InputError(name, f"{hook} returned {_type_of(found)}", f"expected {_described(shape, dtype, device)}")


def finite(name: str, hook: str, found: Any) -> None:
    """Raise unless all numbers are finite."""
    if not _finite(found):
        raise InputError(name, f"{hook} returned a number that is not finite", NUMBERS)


def follows(name: str, hook: str, found: Any, source: Any) -> None:
    """Raise unless all numbers are finite, or `source`, which they are computed from, is not: a diverged training."""
    _note(name, hook, found, source)


def count(name: str, hook: str, found: Any, at_least: int) -> None:
    """Raise unless it is a whole number that is `at_least` that large."""
    if not isinstance(found, int) or found < at_least:
        raise InputError(name, f"{hook} returned {found!r}", f"expected a whole number from {at_least}")


def deviation(name: str, hook: str, found: Any) -> None:
    """Raise unless it is a standard deviation: a finite number, not negative."""
    if not isinstance(found, float | int) or not 0 <= found < math.inf:
        raise InputError(name, f"{hook} returned {found!r}", "expected a finite number from 0")


def guarantee(name: str, found: Any, *_: Any) -> None:
    """Raise unless the AUC that a defense guarantees is None or from 1/2 to 1."""
    if found is not None and not 0.5 <= found <= 1:
        raise InputError(name, f"auc_bound returned {found!r}", "expected None or an AUC from 1/2 to 1")


def several(name: str, hook: str, found: Any, parts: Sequence[str]) -> None:
    """Raise unless it is a tuple of these parts."""
    if not isinstance(found, tuple) or len(found) != len(parts):
        raise InputError(name, f"{hook} returned a {type(found).__name__}", f"expected ({', '.join(parts)})")


def truth(name: str, hook: str, found: Any) -> None:
    """Raise unless it is True or False."""
    if not isinstance(found, bool):
        raise InputError(name, f"{hook} returned {found!r}", "expected True or False")


def distributions(name: str, hook: str, found: Any) -> None:
    """Raise unless each row of (N, k) is a probability distribution: finite, not negative, with sum 1."""
    finite(name, hook, found)
    worst = float(abs(found.sum(axis=1) - 1).max(initial=0.0))
    if worst > SUM:
        wrong = f"{hook} returned rows that add up to 1 only within {worst:.2g}"
        raise InputError(name, wrong, "expected rows of probabilities")
    if len(found) and found.min() < 0:
        raise InputError(name, f"{hook} returned {found.min():.3g} as a probability", "expected 0 or more")


def _note(name: str, hook: str, found: Any, source: Any) -> None:
    """Check a result now, or let it wait within `deferred`."""
    waiting = _WAITING.get()
    if waiting is None or not hasattr(found, "requires_grad"):
        _check_finite([(name, hook, found, source)])
    else:
        waiting.add(name, hook, found, source)


def _check_finite(results: Iterable[_Result]) -> None:
    """Raise if the first result that is not finite was computed from finite numbers."""
    for name, hook, found, source in results:
        if not _finite(found):
            if source is None or _finite(source):
                finite(name, hook, found)
            return


def _finite(found: Any) -> bool:
    """Whether all numbers are finite; their sum is cheaper to check and, unless it overflows, as good."""
    return math.isfinite(found.sum().item()) or bool((abs(found) < math.inf).all())


def _type_of(found: Any) -> str:
    if all(hasattr(found, part) for part in ("shape", "dtype", "device")):
        return _described(found.shape, found.dtype, found.device)
    return f"a {type(found).__name__}"


def _described(shape: Sequence[int], dtype: Any, device: Any) -> str:
    kind = "a tensor" if str(dtype).startswith("torch.") else "an array"
    return f"{kind} of shape {tuple(shape)}, {str(dtype).removeprefix('torch.')}, on {device}"
