from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.domains_request import DomainsRequest
from ...models.shown_provider import ShownProvider
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: DomainsRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/identity-provider/confirm-domains".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> ShownProvider:
    if response.status_code == 200:
        response_200 = ShownProvider.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: DomainsRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[ShownProvider]:
    """Confirm the domains of a tenant.

    Confirm that the named domains of the tenant's identity provider are the tenant's.

    From then on its provider creates accounts for people with such email addresses. If it no
    longer has one of them, nothing is confirmed (`identity_provider.domains_changed`).

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (DomainsRequest): The domains to confirm: those that you have looked at.

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
    body: DomainsRequest,
    idempotency_key: str | Unset = UNSET,
) -> ShownProvider:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
