from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...types import Response


def _request(
    tenant: str,
    invitation: int,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "DELETE",
        "url": "/api/v1/tenants/{tenant}/invitations/{invitation}".format(
            tenant=quote(str(tenant), safe=""),
            invitation=quote(str(invitation), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Any:
    if response.status_code == 204:
        return None

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    invitation: int,
    *,
    client: AuthenticatedClient,
) -> Response[Any]:
    """Revoke an invitation.

    Revoke the invitation: its link stops working.

    Args:
        tenant (str):
        invitation (int):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            invitation=invitation,
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
    invitation: int,
    *,
    client: AuthenticatedClient,
) -> None:
    """As ``sync_detailed``, but return the body, which is empty."""
    sync_detailed(
        tenant=tenant,
        invitation=invitation,
        client=client,
    )
