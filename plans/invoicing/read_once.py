"""Keeps what is read of the catalog while many invoices are made, so that each row is read once.

Only for rows that never change: versions of catalogs and plans. Outside of ``kept`` every call
reads, so that a verification sees a row that was tampered with.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Key = tuple[Hashable, ...]
# Each thread has its own results, so the end of ``kept`` in one thread changes no other thread.
_known: ContextVar[dict[_Key, Any] | None] = ContextVar("known", default=None)


@contextmanager
def kept() -> Iterator[None]:
    """Keep the results of functions marked with ``read_once`` until the block ends."""
    token = _known.set({})
    try:
        yield
    finally:
        _known.reset(token)


def read_once(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return ``function``, which runs once for equal arguments inside ``kept``.

    An error is not kept.
    """

    @wraps(function)
    def read(*arguments: _P.args, **named: _P.kwargs) -> _T:
        known = _known.get()
        if known is None:
            return function(*arguments, **named)
        # Two objects of one row are equal arguments: Django hashes a row by its primary key.
        key: _Key = (function, arguments, *sorted(named.items()))
        if key not in known:
            known[key] = function(*arguments, **named)
        found: _T = known[key]
        return found

    return read
