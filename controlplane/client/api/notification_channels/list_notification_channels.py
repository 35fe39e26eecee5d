from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.channel_page import ChannelPage
from ...models.list_notification_channels_kind import (
    ListNotificationChannelsKind,
)
from ...models.list_notification_channels_sort import (
    ListNotificationChannelsSort,
)
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    cursor: str | Unset = UNSET,
    enabled: bool | Unset = UNSET,
    kind: ListNotificationChannelsKind | Unset = UNSET,
    limit: int | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListNotificationChannelsSort | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["enabled"] = enabled

    json_kind: str | Unset = UNSET
    if not isinstance(kind, Unset):
        json_kind = kind

    params["kind"] = json_kind

    params["limit"] = limit

    params["search"] = search

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/notification-channels".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> ChannelPage:
    if response.status_code == 200:
        response_200 = ChannelPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    enabled: bool | Unset = UNSET,
    kind: ListNotificationChannelsKind | Unset = UNSET,
    limit: int | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListNotificationChannelsSort | Unset = UNSET,
) -> Response[ChannelPage]:
    """List notification channels.

    Return the channels of the tenant.

    Args:
        tenant (str):
        cursor (str | Unset):
        enabled (bool | Unset):
        kind (ListNotificationChannelsKind | Unset):
        limit (int | Unset):
        search (str | Unset):
        sort (ListNotificationChannelsSort | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            cursor=cursor,
            enabled=enabled,
            kind=kind,
            limit=limit,
            search=search,
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
    enabled: bool | Unset = UNSET,
    kind: ListNotificationChannelsKind | Unset = UNSET,
    limit: int | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListNotificationChannelsSort | Unset = UNSET,
) -> ChannelPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        cursor=cursor,
        enabled=enabled,
        kind=kind,
        limit=limit,
        search=search,
        sort=sort,
    ).parsed
