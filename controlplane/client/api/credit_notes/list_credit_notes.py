from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.credit_note_page import CreditNotePage
from ...models.list_credit_notes_sort import (
    ListCreditNotesSort,
)
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListCreditNotesSort | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/credit-notes".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> CreditNotePage:
    if response.status_code == 200:
        response_200 = CreditNotePage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListCreditNotesSort | Unset = UNSET,
) -> Response[CreditNotePage]:
    """List credit notes.

    Return one page of the credit notes of the tenant, without their documents.

    Args:
        tenant (str):
        cursor (str | Unset):
        limit (int | Unset):
        sort (ListCreditNotesSort | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            cursor=cursor,
            limit=limit,
            sort=sort,
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
    tenant: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListCreditNotesSort | Unset = UNSET,
) -> CreditNotePage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        cursor=cursor,
        limit=limit,
        sort=sort,
    ).parsed
