from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.credit import Credit
from ...models.credit_pay_back_request import CreditPayBackRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    credit: str,
    *,
    body: CreditPayBackRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/credits/{credit}/pay-back".format(
            tenant=quote(str(tenant), safe=""),
            credit=quote(str(credit), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Credit:
    if response.status_code == 200:
        response_200 = Credit.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    credit: str,
    *,
    client: AuthenticatedClient,
    body: CreditPayBackRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Credit]:
    """Pay prepaid credit back.

    Book that a part of prepaid credit, or all that is left, goes back by a bank transfer.

    No provider sends money: make the transfer yourself. More than is left, promotional credit,
    and credit that has ended are refused (409). The same reference and amount again change
    nothing.

    Args:
        tenant (str):
        credit (str):
        idempotency_key (str | Unset):
        body (CreditPayBackRequest): Prepaid credit to pay back, in minor units; `reference`
            is that of your bank transfer.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            credit=credit,
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
    credit: str,
    *,
    client: AuthenticatedClient,
    body: CreditPayBackRequest,
    idempotency_key: str | Unset = UNSET,
) -> Credit:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        credit=credit,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
