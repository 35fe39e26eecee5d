from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.periods_without_invoice import PeriodsWithoutInvoice
from ...types import UNSET, Response, Unset


def _request(
    *,
    month: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["month"] = month

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/periods-without-invoice",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> PeriodsWithoutInvoice:
    if response.status_code == 200:
        response_200 = PeriodsWithoutInvoice.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    month: str | Unset = UNSET,
) -> Response[PeriodsWithoutInvoice]:
    """List periods without an invoice.

    Return the periods of an ended month in which a tenant had a plan, without an invoice.

    Periods whose invoice is not issued are in it. `next_step` says what to do.

    Args:
        month (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            month=month,
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
    month: str | Unset = UNSET,
) -> PeriodsWithoutInvoice:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        month=month,
    ).parsed
