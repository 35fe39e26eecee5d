from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.refund import Refund
from ...models.refund_create_request import RefundCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    payment: int,
    *,
    body: RefundCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/payments/{payment}/refunds".format(
            payment=quote(str(payment), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Refund:
    if response.status_code == 201:
        response_201 = Refund.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    payment: int,
    *,
    client: AuthenticatedClient,
    body: RefundCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Refund]:
    """Refund a payment.

    Send money of the payment with this id back, and book it.

    While the provider is away the refund is `requested`, and it is sent later.

    Args:
        payment (int):
        idempotency_key (str | Unset):
        body (RefundCreateRequest): A refund: the part of a payment that goes back, in minor
            units of its currency.

            The tenant's credit pays the refund first. A refund above the credit is refused,
            unless
            `reopens` is true: then the rest is due again. `reference` is that of the bank, if
            staff sent
            the money back. Without it the provider of the payment sends the money.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            payment=payment,
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
    payment: int,
    *,
    client: AuthenticatedClient,
    body: RefundCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Refund:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        payment=payment,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
