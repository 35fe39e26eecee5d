from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.caller import Caller
from ...types import Response


def _request() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/me",
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Caller:
    if response.status_code == 200:
        response_200 = Caller.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
) -> Response[Caller]:
    """Say who I am.

    Return the caller, the caller's tenants and the role in each of them.

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
    client: AuthenticatedClient,
) -> Caller:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
    ).parsed
