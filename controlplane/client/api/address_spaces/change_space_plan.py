from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.address_space import AddressSpace
from ...models.operation import Operation
from ...models.patched_address_space_change_request import (
    PatchedAddressSpaceChangeRequest,
)
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    *,
    body: PatchedAddressSpaceChangeRequest | Unset = UNSET,
    if_match: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "PATCH",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> AddressSpace | Operation:
    if response.status_code == 200:
        response_200 = AddressSpace.from_dict(response.json())

        return response_200

    if response.status_code == 202:
        response_202 = Operation.from_dict(response.json())

        return response_202

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    *,
    client: AuthenticatedClient,
    body: PatchedAddressSpaceChangeRequest | Unset = UNSET,
    if_match: str,
) -> Response[AddressSpace | Operation]:
    """Change a space's plan or labels.

    Move the space to another plan, replace its labels, or both.

    The new price applies at once, the size after restarts: brokers and routers restart one at a
    time, and the operation ends when all have their new size (202). A plan that is too small
    for the contents of the space, or has other volumes, is refused.
    Labels alone are changed at once, and the answer is the space (200).

    Args:
        tenant (str):
        space (str):
        if_match (str):
        body (PatchedAddressSpaceChangeRequest | Unset): What changes of a space: its plan,
            its labels or both; nothing else can change.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
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
    *,
    client: AuthenticatedClient,
    body: PatchedAddressSpaceChangeRequest | Unset = UNSET,
    if_match: str,
) -> AddressSpace | Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed
