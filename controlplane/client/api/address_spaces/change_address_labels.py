from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.address import Address
from ...models.patched_address_labels_request import PatchedAddressLabelsRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    address: str,
    *,
    body: PatchedAddressLabelsRequest | Unset = UNSET,
    if_match: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "PATCH",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/addresses/{address}".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
            address=quote(str(address), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
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
    body: PatchedAddressLabelsRequest | Unset = UNSET,
    if_match: str,
) -> Response[Address]:
    """Change an address's labels.

    Replace the labels of the address. Brokers and routers do not use them.

    Args:
        tenant (str):
        space (str):
        address (str):
        if_match (str):
        body (PatchedAddressLabelsRequest | Unset): The labels of an address, which replace
            all that it has.

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
            body=body,
            if_match=if_match,
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
    body: PatchedAddressLabelsRequest | Unset = UNSET,
    if_match: str,
) -> Address:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        address=address,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed
