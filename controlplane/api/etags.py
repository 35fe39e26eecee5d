"""Makes ETags, and checks If-Match and If-None-Match (RFC 9110, sections 13.1.1 and 13.1.2).

* The tag of a space, an address, a messaging user, a channel or an alarm is its generation in
  quotes. It identifies the desired state only: the observed state (phase, conditions) can change
  while the tag stays. The tag of a space or an address with labels also identifies the labels.
  A request that does not change labels may send the generation alone.
* The tag of any other resource is a hash of its representation (``of_body``).

Every PUT and PATCH must say which state it changes (``require_condition``): by ``If-Match`` with
the tag that was read, or ``*`` for any state. ``If-None-Match: *`` says that nothing exists yet.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.api.instants import Renderer
from controlplane.core import entity_tags
from controlplane.core.errors import Invalid, WaypostError
from tenants import admission
from tenants.actions import address_spaces
from tenants.actions.address_spaces import GenerationChanged
from tenants.models import Address, AddressSpace, MessagingUser, Tenant
from tenants.notifications.models import AddressAlarm, Channel

Row = TypeVar("Row", Address, AddressSpace, MessagingUser)
Result = TypeVar("Result")
_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS = re.compile(rf"{_TAG}(?:\s*,\s*{_TAG})*")  # a list of tags, as If-Match has it


class ConditionMalformed(Invalid):
    """If-Match or If-None-Match is no list of entity tags; a client may have lost the quotes."""

    status = 400
    code = "if_match.malformed"


class ConditionMissing(WaypostError):
    """A PUT or PATCH does not say which state it changes (RFC 6585, section 3)."""

    status = 428
    code = "if_match.missing"
    title = "Say which state you change, by If-Match"


def require_condition(request: Request) -> None:
    """Check that If-Match and If-None-Match can be read, and that a PUT or PATCH has one of them.

    Raises:
        ConditionMalformed: one of them is no list of entity tags.
        ConditionMissing: the request is a PUT or PATCH and has none of them.
    """
    tags = [*_tags(request, "If-Match"), *_tags(request, "If-None-Match")]
    if not tags and request.method in ("PUT", "PATCH"):
        raise ConditionMissing(
            "Read the resource and send its ETag in If-Match, so that no change of somebody else "
            "is lost. If-Match: * changes any state; If-None-Match: * only creates."
        )


def _tags(request: Request, header: str) -> list[str]:
    text = request.headers.get(header)
    if text is None:
        return []
    value = text.strip()
    if value == "*":
        return ["*"]
    # A weak tag (W/) can be read, but If-Match compares strongly (RFC 9110, 8.8.3.2): there it
    # equals none of ours, because this API makes strong tags only.
    if not _TAGS.fullmatch(value):
        raise ConditionMalformed(
            f'{header} must be * or entity tags in quotes, such as "7": send the ETag unchanged.'
        )
    return re.findall(_TAG, value)


def of_body(body: Any) -> str:
    """Return the entity tag of a resource without generations: a hash of its JSON ``body``."""
    # Rendered and read again, so that the hash is of what the client got: times as texts.
    text = json.dumps(json.loads(Renderer().render(body)), sort_keys=True)
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:20]}"'


def headers(row: Row | AddressAlarm | Channel) -> dict[str, str]:
    """Return the response headers for ``row``: a mapping with ``ETag``."""
    return {"ETag": entity_tags.of(row.generation, getattr(row, "labels", None))}


def expected(request: Request) -> list[str]:
    """Return the tags in the request's If-Match, in quotes, or ``*``; empty without the header."""
    return _tags(request, "If-Match")


def require_match(request: Request, row: Row | None, *, with_labels: bool = False) -> None:
    """Check that the request's conditions match ``row`` (None: no such object exists).

    ``*`` matches every object that exists. ``with_labels``: the request changes labels, so the
    generation alone does not match a row with labels. The check takes no lock; see ``guarded``.

    Raises:
        GenerationChanged: a condition was sent and does not match.
    """
    if row is None:
        _require(request, set(), generation=None)
        return
    tags = {headers(row)["ETag"]}
    # Clients from before labels existed, and clients that read a list, know the generation only.
    tags |= set() if with_labels else {entity_tags.of(row.generation)}
    _require(request, tags, generation=row.generation)


def _require(request: Request, tags: Set[str], **facts: Any) -> None:
    """Check the conditions against the tags of the present state; empty: nothing exists."""
    accepted = expected(request)
    # If-None-Match compares weakly (RFC 9110, 13.1.2): W/"7" equals "7".
    refused = [tag.removeprefix("W/") for tag in _tags(request, "If-None-Match")]
    if tags and {"*", *tags} & set(refused):
        raise GenerationChanged("It exists already. Read it, and change it by If-Match.", **facts)
    # ``*`` matches every state, but not a resource that does not exist (RFC 9110, 13.1.1).
    if accepted and not (tags and {"*", *tags} & set(accepted)):
        raise GenerationChanged(
            "It has changed since you read it. Read it again, apply your change and send it with "
            "the new ETag.",
            **facts,
        )


def tagged(body: Any) -> Response:
    """Return a response with the JSON ``body`` of a resource, and its ETag."""
    return Response(body, headers={"ETag": of_body(body)})


def change(
    request: Request, tenant: Tenant, read: Callable[[], Any], action: Callable[[], Result]
) -> Result:
    """Check the request's conditions and run ``action`` in one transaction; return its result.

    ``read`` returns the present JSON body of the resource, or None if it does not exist. The
    tenant's row is locked, and actions lock it too, so nothing changes between check and action.

    Raises:
        GenerationChanged: a condition does not match.
    """
    with transaction.atomic():
        admission.locked_tenant(tenant)
        # Read under the lock. The body that the client read may be older.
        body = read()
        _require(request, set() if body is None else {of_body(body)})
        return action()


def _is_conditional(request: Request) -> bool:
    return bool(expected(request) or _tags(request, "If-None-Match"))


@contextmanager
def guarded(request: Request, row: Row, *, with_labels: bool = False) -> Iterator[Row]:
    """Check If-Match and run the block in one transaction; yield ``row`` as it is now.

    No action can change the row between the check and the end of the block, because the row of its
    space is locked. Actions lock that row too, so the two cannot deadlock. Without conditions,
    ``row`` is yielded as it is, and there is neither a lock nor a transaction.

    ``with_labels`` is as for ``require_match``.

    Raises:
        GenerationChanged: If-Match does not match.
    """
    if not _is_conditional(request):
        yield row
        return
    space = row if isinstance(row, AddressSpace) else row.space
    with transaction.atomic():
        address_spaces.lock(space)
        row.refresh_from_db()  # after the lock: until then another request may change it
        require_match(request, row, with_labels=with_labels)
        yield row


@contextmanager
def guarded_row(request: Request, row: AddressAlarm | Channel) -> Iterator[None]:
    """Check If-Match and run the block in one transaction, in which only ``row`` is locked.

    As ``guarded``, for rows whose actions lock no space.

    Raises:
        GenerationChanged: a condition does not match, or the row is deleted.
    """
    if not _is_conditional(request):
        yield
        return
    with transaction.atomic():
        # The generation only: the action reads and locks the row again by itself.
        rows = type(row)._default_manager.select_for_update(of=("self",)).filter(pk=row.pk)
        generation = rows.values_list("generation", flat=True).first()
        tags = set() if generation is None else {entity_tags.of(generation)}
        _require(request, tags, generation=generation)
        yield
