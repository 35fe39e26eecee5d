"""What the commands share to call the generated functions of ``controlplane.client``.

The commands print what the server says, whole: an older or newer server may say less or more than
this version's models. So they take the JSON of an answer, and models only for what they send.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import httpx

from controlplane.client.types import UNSET, Response, Unset
from controlplane.rest_client import Api, Json, Refused, last_segments, not_waypost, segment

_EDITS = 3  # of ``change``


def named(name: str) -> str:
    """Return ``name``, which a generated function writes into a path.

    Raises:
        Invalid: ``name.invalid``: it is no single segment, as ``rest_client.segment`` says.
    """
    # For its check alone: the generated function encodes the name by itself.
    segment(name)
    return name


def named_address(address: str) -> str:
    """Return the name of an address, which may have slashes.

    Raises:
        Invalid: ``name.invalid``: it is empty, ``.`` or ``..``.
    """
    last_segments(address)
    return address


def id_of(rows: Iterable[Json], text: str) -> str:
    """Return the id of the row that has ``text`` as its id, else of the only one with this name.

    If there is none, the result is ``text``: the server says what is missing.
    """
    found = list(rows)
    if any(str(row["id"]) == text for row in found):
        return text
    ids = [str(row["id"]) for row in found if row["name"] == text]
    return ids[0] if len(ids) == 1 else text


def given(text: str) -> str | Unset:
    """Return the value of an option, or UNSET for an empty text: the option is not given."""
    return text or UNSET


def new_key() -> str:
    """Return an Idempotency-Key: a request that is repeated with it takes effect once."""
    return uuid.uuid4().hex


def body(api: Api, answer: Response[Any]) -> Json:
    """Return the JSON of an answer, or {} without one.

    Raises:
        Unavailable: ``api.not_waypost``: it is no JSON.
    """
    if not answer.content:
        return {}
    try:
        found: Json = answer.json()
    except ValueError:
        raise not_waypost(api.url) from None
    return found


def rows(api: Api, page: Callable[..., Response[Any]]) -> Iterator[Json]:
    """Yield the rows of all pages of a list; request the next page only when it is needed.

    ``page`` is the function of the list with its other arguments; it is called with ``cursor``.
    """
    found = body(api, page())
    if isinstance(found, list):  # a server of an older version sends some lists without pages
        yield from found
        return
    while True:
        yield from found["items"]
        if not found.get("next"):
            return
        # ``next`` is a path with all parameters. ``page`` has the others already.
        found = body(api, page(cursor=httpx.URL(found["next"]).params["cursor"]))


def tenant_list(operation: Callable[..., Response[Any]]) -> Callable[[Api, str], Iterator[Json]]:
    """Return a function that reads a tenant's whole list: (API, slug of the tenant) -> rows.

    ``operation`` is the function of the list in the generated client.
    """
    return lambda api, tenant: rows(api, partial(operation, tenant, client=api.client))


def shared_list(operation: Callable[..., Response[Any]]) -> Callable[[Api], Iterator[Json]]:
    """Return a function that reads a whole list that belongs to no tenant, as ``tenant_list``."""
    return lambda api: rows(api, partial(operation, client=api.client))


def tag(answer: Response[Any]) -> str:
    """Return the ETag that a change sends back; ``*`` if an older server has sent none."""
    return answer.headers.get("ETag", "*")


def change(
    api: Api,
    read: Callable[[], Response[Any]],
    write: Callable[[Json, str], Response[Any]],
) -> Json:
    """Read a resource, and write what ``write`` makes of its body and ETag; return the answer.

    If somebody else changes the resource in between, both steps are repeated, a few times.

    Raises:
        Refused: status 412: it was changed in between each time.
    """
    for _ in range(_EDITS - 1):
        present = read()
        try:
            return body(api, write(body(api, present), tag(present)))
        except Refused as refused:
            if refused.http_status != 412:
                raise
    # The last attempt: its 412 goes to the caller.
    present = read()
    return body(api, write(body(api, present), tag(present)))
