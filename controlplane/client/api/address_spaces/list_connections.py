from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.connections_page import ConnectionsPage
from ...models.list_connections_sort import (
    ListConnectionsSort,
)
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    *,
    address: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    instance: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListConnectionsSort | Unset = UNSET,
    user: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["address"] = address

    params["cursor"] = cursor

    params["instance"] = instance

    params["limit"] = limit

    params["search"] = search

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params["user"] = user

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/connections".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> ConnectionsPage:
    if response.status_code == 200:
        response_200 = ConnectionsPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    *,
    client: AuthenticatedClient,
    address: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    instance: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListConnectionsSort | Unset = UNSET,
    user: str | Unset = UNSET,
) -> Response[ConnectionsPage]:
    """List connections.

    Return the connections that were read last. They are some seconds old.

    At most 1,000 connections of each broker or router are listed.

    Args:
        tenant (str):
        space (str):
        address (str | Unset):
        cursor (str | Unset):
        instance (str | Unset):
        limit (int | Unset):
        search (str | Unset):
        sort (ListConnectionsSort | Unset):
        user (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            address=address,
            cursor=cursor,
            instance=instance,
            limit=limit,
            search=search,
            sort=sort,
            user=user,
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
    space: str,
    *,
    client: AuthenticatedClient,
    address: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    instance: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListConnectionsSort | Unset = UNSET,
    user: str | Unset = UNSET,
) -> ConnectionsPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        client=client,
        address=address,
        cursor=cursor,
        instance=instance,
        limit=limit,
        search=search,
        sort=sort,
        user=user,
    ).parsed
