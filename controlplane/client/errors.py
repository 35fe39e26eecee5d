"""What the functions of the client raise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

if TYPE_CHECKING:
    from .models.problem import Problem


class WaypostError(Exception):
    """The server did not do what it was asked; ``status_code`` is that of its answer."""

    def __init__(self, status_code: int, text: str) -> None:
        super().__init__(text)
        self.status_code = status_code


class Refused(WaypostError):
    """The server refused the request, and ``problem`` says why (RFC 9457).

    Programs compare ``problem.code``; people read ``problem.detail``.
    """

    def __init__(self, status_code: int, problem: Problem) -> None:
        super().__init__(status_code, f"{problem.detail} ({problem.code})")
        self.problem = problem


class Unexpected(WaypostError):
    """The answer is none that the API document lists: is the server Waypost?"""


def check(response: httpx.Response) -> None:
    """Return if the answer is no error.

    Raises:
        Refused: the answer is an error with a problem.
        Unexpected: it is an error without one.
    """
    if not response.is_error:
        return
    from .models.problem import Problem  # not at the top: most requests are not refused

    try:
        problem = Problem.from_dict(response.json())
    except (AttributeError, KeyError, TypeError, ValueError):
        raise unexpected(response) from None
    raise Refused(response.status_code, problem)


def unexpected(response: httpx.Response) -> Unexpected:
    """Return the error for an answer that the API document does not list."""
    said = f"{response.request.method} {response.request.url} was answered {response.status_code}"
    return Unexpected(response.status_code, f"{said}: is the server Waypost?")


__all__ = ["Refused", "Unexpected", "WaypostError", "check", "unexpected"]
