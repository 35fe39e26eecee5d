from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...types import Response


def _request(
    tenant: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "DELETE",
        "url": "/api/v1/tenants/{tenant}/spend-cap".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Any:
    if response.status_code == 204:
        return None

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
) -> Response[Any]:
    """Remove the spend cap.

    Remove the cap, and lift what it restricted. Without a cap, nothing changes.

    Args:
        tenant (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
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
) -> None:
    """As ``sync_detailed``, but return the body, which is empty."""
    sync_detailed(
        tenant=tenant,
        client=client,
    )
