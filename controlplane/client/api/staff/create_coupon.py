from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.coupon import Coupon
from ...models.coupon_create_request import CouponCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: CouponCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/coupons",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Coupon:
    if response.status_code == 201:
        response_201 = Coupon.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CouponCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Coupon]:
    """Create a coupon.

    Create a coupon. Its code must be new.

    Args:
        idempotency_key (str | Unset):
        body (CouponCreateRequest): A new coupon; `limit` tenants may redeem it, before
            `expires_at`. Null: no limit, no end.

            `currency` is the one of `amount_minor`; empty: that of the main seller.

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
    body: CouponCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Coupon:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
