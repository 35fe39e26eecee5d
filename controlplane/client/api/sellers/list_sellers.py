from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.seller_page import SellerPage
from ...types import Response


def _request() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/sellers",
    }
    return _kwargs


def _parsed(response: httpx.Response) -> SellerPage:
    if response.status_code == 200:
        response_200 = SellerPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
) -> Response[SellerPage]:
    """List sellers.

    Return the legal entities from which a new tenant may buy, the main one first.

    The list has a single page. No login is needed.

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
) -> SellerPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
    ).parsed
