from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.coupon import Coupon
from ...models.coupon_end_request import CouponEndRequest
from ...types import UNSET, Response, Unset


def _request(
    coupon: str,
    *,
    body: CouponEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/coupons/{coupon}/end".format(
            coupon=quote(str(coupon), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Coupon:
    if response.status_code == 200:
        response_200 = Coupon.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    coupon: str,
    *,
    client: AuthenticatedClient,
    body: CouponEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Coupon]:
    """End a coupon.

    Let nobody redeem the coupon any more. Discounts that it gave go on.

    Args:
        coupon (str):
        idempotency_key (str | Unset):
        body (CouponEndRequest): Why nobody may redeem a coupon any more.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            coupon=coupon,
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
    coupon: str,
    *,
    client: AuthenticatedClient,
    body: CouponEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> Coupon:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        coupon=coupon,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
