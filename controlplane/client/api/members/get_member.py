from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.member import Member
from ...types import Response


def _request(
    tenant: str,
    email: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/members/{email}".format(
            tenant=quote(str(tenant), safe=""),
            email=quote(str(email), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Member:
    if response.status_code == 200:
        response_200 = Member.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    email: str,
    *,
    client: AuthenticatedClient,
) -> Response[Member]:
    """Get a member.

    Return the member with this email.

    Args:
        tenant (str):
        email (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            email=email,
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
    email: str,
    *,
    client: AuthenticatedClient,
) -> Member:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        email=email,
        client=client,
    ).parsed
