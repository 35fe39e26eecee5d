from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.exemption import Exemption
from ...models.exemption_end_request import ExemptionEndRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    exemption: str,
    *,
    body: ExemptionEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/tax-exemptions/{exemption}/end".format(
            tenant=quote(str(tenant), safe=""),
            exemption=quote(str(exemption), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Exemption:
    if response.status_code == 200:
        response_200 = Exemption.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    exemption: str,
    *,
    client: AuthenticatedClient,
    body: ExemptionEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Exemption]:
    """End a tax exemption.

    Let the certificate count for the last time on a day. Issued invoices do not change.

    Args:
        tenant (str):
        exemption (str):
        idempotency_key (str | Unset):
        body (ExemptionEndRequest): The last day of a certificate, and why it ends.

            If `ends_on` is the day before its first day, the certificate never counts.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            exemption=exemption,
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
    exemption: str,
    *,
    client: AuthenticatedClient,
    body: ExemptionEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> Exemption:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        exemption=exemption,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
