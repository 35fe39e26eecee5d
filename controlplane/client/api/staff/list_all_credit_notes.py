import datetime
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.list_all_credit_notes_sort import (
    ListAllCreditNotesSort,
)
from ...models.staff_credit_note_page import StaffCreditNotePage
from ...types import UNSET, Response, Unset


def _request(
    *,
    cursor: str | Unset = UNSET,
    legal_entity: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListAllCreditNotesSort | Unset = UNSET,
    tenant: str | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["legal_entity"] = legal_entity

    params["limit"] = limit

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params["tenant"] = tenant

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/credit-notes",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> StaffCreditNotePage:
    if response.status_code == 200:
        response_200 = StaffCreditNotePage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    legal_entity: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListAllCreditNotesSort | Unset = UNSET,
    tenant: str | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> Response[StaffCreditNotePage]:
    """List all credit notes.

    Return the credit notes of all tenants, or those that the filters select.

    Args:
        cursor (str | Unset):
        legal_entity (str | Unset):
        limit (int | Unset):
        since (datetime.datetime | Unset):
        sort (ListAllCreditNotesSort | Unset):
        tenant (str | Unset):
        until (datetime.datetime | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            cursor=cursor,
            legal_entity=legal_entity,
            limit=limit,
            since=since,
            sort=sort,
            tenant=tenant,
            until=until,
        )
    )
    errors.check(response)
    return Response(
        status_code=response.status_code,
        headers=response.headers,
        content=response.content,
        read=lambda: _parsed(response),
    )


def sync(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    legal_entity: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListAllCreditNotesSort | Unset = UNSET,
    tenant: str | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> StaffCreditNotePage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        cursor=cursor,
        legal_entity=legal_entity,
        limit=limit,
        since=since,
        sort=sort,
        tenant=tenant,
        until=until,
    ).parsed
