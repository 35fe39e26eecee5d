from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.list_overdue_invoices_sort import (
    ListOverdueInvoicesSort,
)
from ...models.overdue_page import OverduePage
from ...types import UNSET, Response, Unset


def _request(
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListOverdueInvoicesSort | Unset = UNSET,
    tenant: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params["tenant"] = tenant

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/overdue",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> OverduePage:
    if response.status_code == 200:
        response_200 = OverduePage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListOverdueInvoicesSort | Unset = UNSET,
    tenant: str | Unset = UNSET,
) -> Response[OverduePage]:
    """List overdue invoices.

    Return the overdue invoices of all tenants, and what happens to each tenant when.

    Args:
        cursor (str | Unset):
        limit (int | Unset):
        sort (ListOverdueInvoicesSort | Unset):
        tenant (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            cursor=cursor,
            limit=limit,
            sort=sort,
            tenant=tenant,
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
    limit: int | Unset = UNSET,
    sort: ListOverdueInvoicesSort | Unset = UNSET,
    tenant: str | Unset = UNSET,
) -> OverduePage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        cursor=cursor,
        limit=limit,
        sort=sort,
        tenant=tenant,
    ).parsed
