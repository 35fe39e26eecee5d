from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...types import Response


def _request() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "DELETE",
        "url": "/api/v1/session",
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Any:
    if response.status_code == 204:
        return None

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
) -> Response[Any]:
    """Log out.

    Invalidate the person's token, or end the portal's session, that this request uses.

    A tenant's token is refused (409): revoke it in the tenant's list of tokens.

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
) -> None:
    """As ``sync_detailed``, but return the body, which is empty."""
    sync_detailed(
        client=client,
    )
