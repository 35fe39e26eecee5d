from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.tenant import Tenant
from ...models.tenant_create_request import TenantCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: TenantCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Tenant:
    if response.status_code == 201:
        response_201 = Tenant.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: TenantCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Tenant]:
    """Create a tenant.

    Create another tenant, with the caller as its owner. A tenant's token cannot do this.

    Args:
        idempotency_key (str | Unset):
        body (TenantCreateRequest): A tenant to create for a person who has an account.

            An empty or absent `plan` chooses the plan with the lowest monthly fee. Without
            `legal_entity`
            and `currency` the main seller sells to the tenant, in its main currency.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
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
    *,
    client: AuthenticatedClient,
    body: TenantCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Tenant:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
