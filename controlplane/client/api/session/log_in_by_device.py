from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.device_tokens_request import DeviceTokensRequest
from ...models.session import Session
from ...types import Response


def _request(
    *,
    body: DeviceTokensRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/session/device",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Session:
    if response.status_code == 201:
        response_201 = Session.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: DeviceTokensRequest,
) -> Response[Session]:
    """Log in by device.

    Return a new token that acts for the person for twelve hours.

    The identity token must be one of the configured provider for the client of
    `GET /login-options`, with the nonce of this login. Whose account it is, and who is refused
    (403, `login.refused`), is decided as in the portal; a second factor is the provider's.

    Args:
        body (DeviceTokensRequest): The tokens that the identity provider gave the command,
            and the nonce of this login.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            body=body,
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
    client: AuthenticatedClient | Client,
    body: DeviceTokensRequest,
) -> Session:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        body=body,
    ).parsed
