from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.channel import Channel
from ...models.patched_channel_update_request import PatchedChannelUpdateRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    channel: str,
    *,
    body: PatchedChannelUpdateRequest | Unset = UNSET,
    if_match: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "PATCH",
        "url": "/api/v1/tenants/{tenant}/notification-channels/{channel}".format(
            tenant=quote(str(tenant), safe=""),
            channel=quote(str(channel), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Channel:
    if response.status_code == 200:
        response_200 = Channel.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    channel: str,
    *,
    client: AuthenticatedClient,
    body: PatchedChannelUpdateRequest | Unset = UNSET,
    if_match: str,
) -> Response[Channel]:
    """Change a notification channel.

    Change the fields that are sent. Enabling a channel forgets its earlier failures.

    New kinds need the permission that each names in `needs`, and a new URL those of all kinds
    of the channel.

    Args:
        tenant (str):
        channel (str):
        if_match (str):
        body (PatchedChannelUpdateRequest | Unset): What to change of a channel; absent
            fields stay.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            channel=channel,
            body=body,
            if_match=if_match,
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
    channel: str,
    *,
    client: AuthenticatedClient,
    body: PatchedChannelUpdateRequest | Unset = UNSET,
    if_match: str,
) -> Channel:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        channel=channel,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed
