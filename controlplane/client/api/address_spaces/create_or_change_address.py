from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.address import Address
from ...models.address_spec_request import AddressSpecRequest
from ...models.create_or_change_address_if_none_match import (
    CreateOrChangeAddressIfNoneMatch,
)
from ...models.operation import Operation
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    address: str,
    *,
    body: AddressSpecRequest,
    if_match: str | Unset = UNSET,
    if_none_match: CreateOrChangeAddressIfNoneMatch | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = str(if_none_match)

    _kwargs: dict[str, Any] = {
        "method": "PUT",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/addresses/{address}".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
            address=quote(str(address), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Address | Operation:
    if response.status_code == 200:
        response_200 = Address.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = Operation.from_dict(response.json())

        return response_202

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    address: str,
    *,
    client: AuthenticatedClient,
    body: AddressSpecRequest,
    if_match: str | Unset = UNSET,
    if_none_match: CreateOrChangeAddressIfNoneMatch | Unset = UNSET,
) -> Response[Address | Operation]:
    """Create or change an address.

    Begin to create the address, or to change it to the settings of the body.

    Send `If-None-Match: *` to create it, `If-Match` with its ETag to change it, or
    `If-Match: *` to change any state of it. A request with neither is refused (428).
    The answer is 202 with an operation, or 200 with the address if it has these settings
    already; labels change at once. Another type, plan, topic or last-value key than at the
    creation is refused (409).

    Args:
        tenant (str):
        space (str):
        address (str):
        if_match (str | Unset):
        if_none_match (CreateOrChangeAddressIfNoneMatch | Unset):
        body (AddressSpecRequest): The full desired state of an address. A setting that is
            absent or null has its default.

            The default of a number is the plan's value. The default of ``dead_letter`` is the
            space's
            address ``dead-letters``, if there is one. Any other text or name is empty by
            default.

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
            if_none_match=if_none_match,
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
    body: AddressSpecRequest,
    if_match: str | Unset = UNSET,
    if_none_match: CreateOrChangeAddressIfNoneMatch | Unset = UNSET,
) -> Address | Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        address=address,
        client=client,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    ).parsed
