from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.login_options import LoginOptions
from ...types import Response


def _request() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/login-options",
    }
    return _kwargs


def _parsed(response: httpx.Response) -> LoginOptions:
    if response.status_code == 200:
        response_200 = LoginOptions.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
) -> Response[LoginOptions]:
    """Get the login options.

    Return whether people have passwords, and how a command uses the identity provider.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(**_request())
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
) -> LoginOptions:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
    ).parsed
