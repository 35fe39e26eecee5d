from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.channel import Channel
from ...types import Response


def _request(
    tenant: str,
    channel: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/notification-channels/{channel}".format(
            tenant=quote(str(tenant), safe=""),
            channel=quote(str(channel), safe=""),
        ),
    }
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
) -> Response[Channel]:
    """Get a notification channel.

    Return the channel.

    Args:
        tenant (str):
        channel (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            channel=channel,
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
) -> Channel:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        channel=channel,
        client=client,
    ).parsed
