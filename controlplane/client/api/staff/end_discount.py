from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.discount import Discount
from ...models.discount_end_request import DiscountEndRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    discount: str,
    *,
    body: DiscountEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/discounts/{discount}/end".format(
            tenant=quote(str(tenant), safe=""),
            discount=quote(str(discount), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Discount:
    if response.status_code == 200:
        response_200 = Discount.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    discount: str,
    *,
    client: AuthenticatedClient,
    body: DiscountEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Discount]:
    """End a discount.

    End the discount with the running billing month, or before it.

    The request is refused (409) if an invoice after the new end was priced with the discount.
    Ending it again changes nothing.

    Args:
        tenant (str):
        discount (str):
        idempotency_key (str | Unset):
        body (DiscountEndRequest): Why a discount ends. `at_once`: it does not count for the
            running month any more.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            discount=discount,
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
    discount: str,
    *,
    client: AuthenticatedClient,
    body: DiscountEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> Discount:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        discount=discount,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
