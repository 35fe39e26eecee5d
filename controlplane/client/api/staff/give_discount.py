from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.discount import Discount
from ...models.reduction_request import ReductionRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: ReductionRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/discounts".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Discount:
    if response.status_code == 201:
        response_201 = Discount.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: ReductionRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Discount]:
    """Give a discount.

    Give the tenant a discount from the running billing month on.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (ReductionRequest): How much cheaper each month gets: either `percent` or
            `amount_minor`, before tax.

            `meters` are the meters whose lines get cheaper, such as `plan_fee`; empty: all.
            `months` is for
            how many billing months, the running one included; null: for ever.

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
    body: ReductionRequest,
    idempotency_key: str | Unset = UNSET,
) -> Discount:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
