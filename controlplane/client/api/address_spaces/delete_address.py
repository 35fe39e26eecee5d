from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.operation import Operation
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    address: str,
    *,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "DELETE",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/addresses/{address}".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
            address=quote(str(address), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Operation:
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
    if_match: str | Unset = UNSET,
) -> Response[Operation]:
    """Delete an address.

    Begin to delete the address with its stored messages.

    The request is refused (409) while the address is the topic or a target of other addresses.
    Past usage is still billed.

    Args:
        tenant (str):
        space (str):
        address (str):
        if_match (str | Unset):

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
    if_match: str | Unset = UNSET,
) -> Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        address=address,
        client=client,
        if_match=if_match,
    ).parsed
