from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.list_all_tenants_sort import (
    ListAllTenantsSort,
)
from ...models.staff_tenant_page import StaffTenantPage
from ...types import UNSET, Response, Unset


def _request(
    *,
    closing: bool | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListAllTenantsSort | Unset = UNSET,
    suspended: bool | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["closing"] = closing

    params["cursor"] = cursor

    params["limit"] = limit

    params["search"] = search

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params["suspended"] = suspended

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/tenants",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> StaffTenantPage:
    if response.status_code == 200:
        response_200 = StaffTenantPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    closing: bool | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListAllTenantsSort | Unset = UNSET,
    suspended: bool | Unset = UNSET,
) -> Response[StaffTenantPage]:
    """List all tenants.

    Return all tenants, or those that the filters select.

    Args:
        closing (bool | Unset):
        cursor (str | Unset):
        limit (int | Unset):
        search (str | Unset):
        sort (ListAllTenantsSort | Unset):
        suspended (bool | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            closing=closing,
            cursor=cursor,
            limit=limit,
            search=search,
            sort=sort,
            suspended=suspended,
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
    closing: bool | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListAllTenantsSort | Unset = UNSET,
    suspended: bool | Unset = UNSET,
) -> StaffTenantPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        closing=closing,
        cursor=cursor,
        limit=limit,
        search=search,
        sort=sort,
        suspended=suspended,
    ).parsed
