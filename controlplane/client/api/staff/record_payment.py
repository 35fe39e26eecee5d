from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.payment import Payment
from ...models.payment_create_request import PaymentCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    invoice: str,
    *,
    body: PaymentCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/invoices/{invoice}/payments".format(
            invoice=quote(str(invoice), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Payment:
    if response.status_code == 201:
        response_201 = Payment.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    invoice: str,
    *,
    client: AuthenticatedClient,
    body: PaymentCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Payment]:
    """Record a payment.

    Record a payment of the issued invoice of this number or id.

    The invoice becomes paid or partly paid. The same source and reference again is the same
    payment, and changes nothing. More than what is due is refused (409), unless the rest
    becomes credit.

    Args:
        invoice (str):
        idempotency_key (str | Unset):
        body (PaymentCreateRequest): A received payment, in minor units of the invoice's
            currency.

            `source` and `reference` together identify the payment. With `surplus_to_credit`,
            what exceeds
            the amount due becomes credit of the tenant.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            invoice=invoice,
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
    invoice: str,
    *,
    client: AuthenticatedClient,
    body: PaymentCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Payment:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        invoice=invoice,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
