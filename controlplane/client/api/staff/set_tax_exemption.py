from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.exemption import Exemption
from ...models.exemption_create_request import ExemptionCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: ExemptionCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/tax-exemptions".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Exemption:
    if response.status_code == 201:
        response_201 = Exemption.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: ExemptionCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Exemption]:
    """Set a tax exemption.

    Store the certificate. Invoices closed from now on apply it to services of its days.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (ExemptionCreateRequest): A certificate of exemption. Invoices print `text` and
            the certificate's number.

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
    body: ExemptionCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Exemption:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
