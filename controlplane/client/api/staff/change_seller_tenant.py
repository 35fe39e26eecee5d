from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.seller_choice_request import SellerChoiceRequest
from ...models.tenant_seller import TenantSeller
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: SellerChoiceRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/seller".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> TenantSeller:
    if response.status_code == 200:
        response_200 = TenantSeller.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: SellerChoiceRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[TenantSeller]:
    """Change the seller of a tenant.

    Let the tenant buy from another legal entity or in another currency.

    The request is refused (409) once an invoice is priced, the ledger has entries of the
    tenant, or the tenant has a commitment or a discount of an amount.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (SellerChoiceRequest): The new seller of a tenant, the currency of its
            invoices, and why.

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
    body: SellerChoiceRequest,
    idempotency_key: str | Unset = UNSET,
) -> TenantSeller:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
