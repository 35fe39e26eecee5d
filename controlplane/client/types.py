"""What the functions and models of the client share."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")


class Unset:
    """The type of ``UNSET``: a field or parameter that is not given, and so is not sent."""

    def __bool__(self) -> Literal[False]:
        return False


UNSET: Unset = Unset()


@dataclass(frozen=True)
class File:
    """A file that the server answered with, such as an invoice as PDF."""

    payload: BytesIO


@dataclass(frozen=True)
class Response(Generic[T]):
    """An answer of the server that is no refusal.

    ``headers`` has the ETag that a change sends back as ``if_match``. ``content`` is the body as it
    came.
    """

    status_code: int
    headers: Mapping[str, str]
    content: bytes
    read: Callable[[], T]

    @property
    def parsed(self) -> T:
        """The body as a model. A body that no model fits is a KeyError, TypeError or ValueError."""
        return self.read()

    def json(self) -> Any:
        """Return the body as JSON says it, with fields that this client does not know too."""
        return json.loads(self.content)


__all__ = ["UNSET", "File", "Response", "Unset"]
