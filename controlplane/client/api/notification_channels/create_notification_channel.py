from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.channel_create_request import ChannelCreateRequest
from ...models.new_channel import NewChannel
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: ChannelCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants/{tenant}/notification-channels".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> NewChannel:
    if response.status_code == 201:
        response_201 = NewChannel.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: ChannelCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[NewChannel]:
    """Create a notification channel.

    Create a channel. Only this answer has the secret that signs a webhook.

    A webhook must be at a public https address. Waypost follows no redirects. The caller needs
    the permission that each kind names in `needs`; an empty list of kinds needs all of them.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (ChannelCreateRequest): A channel to create. An empty list of `kinds` means all
            of them.

            `url` is a https address for a webhook, and a URL of the form
            `slack://TokenA/TokenB/TokenC` for
            a chat.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            body=body,
            idempotency_key=idempotency_key,
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
    body: ChannelCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> NewChannel:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
