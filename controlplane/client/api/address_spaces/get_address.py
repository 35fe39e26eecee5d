from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.address import Address
from ...types import Response


def _request(
    tenant: str,
    space: str,
    address: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/addresses/{address}".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
            address=quote(str(address), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Address:
    if response.status_code == 200:
        response_200 = Address.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    address: str,
    *,
    client: AuthenticatedClient,
) -> Response[Address]:
    """Get an address.

    Return the address with its conditions and its newest reading.

    The ETag identifies the desired state only.

    Args:
        tenant (str):
        space (str):
        address (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            address=address,
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
    space: str,
    address: str,
    *,
    client: AuthenticatedClient,
) -> Address:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        address=address,
        client=client,
    ).parsed
