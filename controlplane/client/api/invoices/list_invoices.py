import datetime
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.invoice_page import InvoicePage
from ...models.list_invoices_sort import ListInvoicesSort
from ...models.list_invoices_state import ListInvoicesState
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListInvoicesSort | Unset = UNSET,
    state: ListInvoicesState | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state

    params["state"] = json_state

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/invoices".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> InvoicePage:
    if response.status_code == 200:
        response_200 = InvoicePage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListInvoicesSort | Unset = UNSET,
    state: ListInvoicesState | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> Response[InvoicePage]:
    """List invoices.

    Return the invoices of the tenant in every state.

    Args:
        tenant (str):
        cursor (str | Unset):
        limit (int | Unset):
        since (datetime.datetime | Unset):
        sort (ListInvoicesSort | Unset):
        state (ListInvoicesState | Unset):
        until (datetime.datetime | Unset):

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
            since=since,
            sort=sort,
            state=state,
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
    tenant: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListInvoicesSort | Unset = UNSET,
    state: ListInvoicesState | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> InvoicePage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        cursor=cursor,
        limit=limit,
        since=since,
        sort=sort,
        state=state,
        until=until,
    ).parsed
