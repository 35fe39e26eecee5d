"""Faults of fakes, in one way for all of them: ``fake.fail_at("ensure_namespace", error)``."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any


@dataclass
class _Fault:
    """An error, and how many more calls raise it; None: all calls."""

    error: Exception
    times: int | None


class Faults:
    """Base of a fake: its calls work, but those that a test lets fail."""

    def fail_at(self, call: str, error: Exception, *, times: int | None = None) -> None:
        """Raise ``error`` at the next ``times`` calls of a method, or until ``recover``.

        A fault that is added to another one of the same call begins after it.
        """
        planned = self._planned()
        if call not in planned:
            planned[call] = []
            setattr(self, call, _failing(getattr(self, call), planned[call]))
        planned[call].append(_Fault(error, times))

    def recover(self) -> None:
        """Let every call work again."""
        for faults in self._planned().values():
            faults.clear()

    def has_faults(self) -> bool:
        """Return whether a further call would fail."""
        return any(self._planned().values())

    def _planned(self) -> dict[str, list[_Fault]]:
        planned: dict[str, list[_Fault]] = vars(self).setdefault("_faults", {})
        return planned


def _failing(call: Callable[..., Any], planned: list[_Fault]) -> Callable[..., Any]:
    @wraps(call)
    def failing(*args: Any, **kwargs: Any) -> Any:
        if not planned:
            return call(*args, **kwargs)
        fault = planned[0]
        if fault.times is not None:
            fault.times -= 1
            if not fault.times:
                planned.pop(0)
        raise fault.error

    return failing
