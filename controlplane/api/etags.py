"""Makes ETags from the generation of a row, and checks If-Match (RFC 9110, section 13.1.1).

The tag is the generation in quotes, so it identifies the desired state only. The observed state
(phase, conditions) can change while the tag stays the same.
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
from tenants.notifications.models import AddressAlarm, Channel

Row = TypeVar("Row", Address, AddressSpace, MessagingUser)


def of(generation: int) -> str:
    """Return the entity tag of ``generation``, which is the number in quotes, such as ``"7"``."""
    return f'"{generation}"'


def headers(generation: int) -> dict[str, str]:
    """Return the response headers for ``generation``: a mapping with ``ETag``."""
    return {"ETag": of(generation)}


def expected(request: Request) -> list[str]:
    """Return the tags in the request's If-Match, in quotes, or ``*``; empty without the header."""
    return parse_etags(request.headers.get("If-Match", ""))


def require_match(request: Request, generation: int | None) -> None:
    """Check that If-Match, if it was sent, matches ``generation`` (None: no such object exists).

    ``*`` matches every object that exists. The check takes no lock; see ``guarded``.

    Raises:
        GenerationChanged: If-Match does not match.
    """
    accepted = expected(request)
    if not accepted:
        return
    # ``*`` matches every state, but not a resource that does not exist (RFC 9110, 13.1.1).
    if generation is None or not ({"*", of(generation)} & set(accepted)):
        raise GenerationChanged(
            "It has changed since you read it. Read it again, apply your change and send it with "
            "the new ETag.",
            generation=generation,
        )


@contextmanager
def guarded(request: Request, row: Row) -> Iterator[Row]:
    """Check If-Match and run the block in one transaction; yield ``row`` as it is now.

    No action can change the row between the check and the end of the block, because the row of its
    space is locked. Actions lock that row too, so the two cannot deadlock. Without If-Match,
    ``row`` is yielded as it is, and there is neither a lock nor a transaction.

    Raises:
        GenerationChanged: If-Match does not match.
    """
    if not expected(request):
        yield row
        return
    space = row if isinstance(row, AddressSpace) else row.space
    with transaction.atomic():
        address_spaces.lock(space)
        row.refresh_from_db()  # after the lock: until then another request may change it
        require_match(request, row.generation)
        yield row


@contextmanager
def guarded_row(request: Request, row: AddressAlarm | Channel) -> Iterator[None]:
    """Check If-Match and run the block in one transaction, in which only ``row`` is locked.

    As ``guarded``, for rows whose actions lock no space.

    Raises:
        GenerationChanged: If-Match does not match, or the row is deleted.
    """
    if not expected(request):
        yield
        return
    with transaction.atomic():
        rows = type(row)._default_manager.select_for_update(of=("self",)).filter(pk=row.pk)
        require_match(request, rows.values_list("generation", flat=True).first())
        yield
