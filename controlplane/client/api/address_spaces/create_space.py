from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.address_space_create_request import AddressSpaceCreateRequest
from ...models.operation import Operation
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: AddressSpaceCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants/{tenant}/address-spaces".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Operation:
    if response.status_code == 202:
        response_202 = Operation.from_dict(response.json())

        return response_202

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: AddressSpaceCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Operation]:
    """Create a space.

    Check quotas and begin to create the space.

    The operation succeeds when the space is Active.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (AddressSpaceCreateRequest): A space to create. Its name and type can never
            change; its plan can.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            body=body,
            idempotency_key=idempotency_key,
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
    body: AddressSpaceCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
