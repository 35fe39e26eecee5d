"""ETag from the generation, and If-Match (RFC 9110, section 13.1.1).

The tag names the desired state only: what workers observe (phase, conditions) moves without it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import transaction
from django.utils.http import parse_etags
from rest_framework.request import Request

from tenants.actions import address_spaces
from tenants.actions.address_spaces import GenerationChanged
from tenants.models import Address, AddressSpace, MessagingUser

Row = TypeVar("Row", Address, AddressSpace, MessagingUser)


def of(generation: int) -> str:
    """Return the entity tag of a desired state."""
    return f'"{generation}"'


def headers(generation: int) -> dict[str, str]:
    """Return the header that carries the tag."""
    return {"ETag": of(generation)}


def expected(request: Request) -> list[str]:
    """Return the tags that If-Match accepts; empty when the header is absent."""
    return parse_etags(request.headers.get("If-Match", ""))


def require_match(request: Request, generation: int | None) -> None:
    """Return when the request may change what now has ``generation`` (None: there is no such).

    Raises:
        GenerationChanged: an If-Match is there and does not fit.
    """
    accepted = expected(request)
    if not accepted:
        return
    if generation is None or not ({"*", of(generation)} & set(accepted)):
        raise GenerationChanged(
            "Read it again, apply your change to what you find, and send that with its new ETag.",
            generation=generation,
        )


@contextmanager
def guarded(request: Request, row: Row) -> Iterator[Row]:
    """Yield ``row`` as it is now if If-Match fits it, inside the transaction of the change.

    Locks what the actions lock, the row of the space, and so cannot deadlock with them.

    Raises:
        GenerationChanged: an If-Match is there and does not fit.
    """
    if not expected(request):
        yield row
        return
    space = row if isinstance(row, AddressSpace) else row.space
    with transaction.atomic():
        address_spaces.lock(space)
        row.refresh_from_db()
        require_match(request, row.generation)
        yield row
