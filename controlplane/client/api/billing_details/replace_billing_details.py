from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.billing_details import BillingDetails
from ...models.billing_details_request import BillingDetailsRequest
from ...types import Response


def _request(
    tenant: str,
    *,
    body: BillingDetailsRequest,
    if_match: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "PUT",
        "url": "/api/v1/tenants/{tenant}/billing-details".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> BillingDetails:
    if response.status_code == 200:
        response_200 = BillingDetails.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: BillingDetailsRequest,
    if_match: str,
) -> Response[BillingDetails]:
    """Replace billing details.

    Replace all billing details. An absent tax id becomes empty, an absent time zone UTC.

    Args:
        tenant (str):
        if_match (str):
        body (BillingDetailsRequest): The buyer on invoices. An invoice is held while one of
            the first four fields is empty.

            Billing months begin at midnight in `billing_time_zone`, an IANA name.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            body=body,
            if_match=if_match,
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
    body: BillingDetailsRequest,
    if_match: str,
) -> BillingDetails:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed
