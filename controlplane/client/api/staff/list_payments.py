from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.list_payments_sort import ListPaymentsSort
from ...models.payment_page import PaymentPage
from ...types import UNSET, Response, Unset


def _request(
    invoice: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListPaymentsSort | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/invoices/{invoice}/payments".format(
            invoice=quote(str(invoice), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> PaymentPage:
    if response.status_code == 200:
        response_200 = PaymentPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    invoice: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListPaymentsSort | Unset = UNSET,
) -> Response[PaymentPage]:
    """List payments.

    Return the payments of the invoice of this number or id.

    Args:
        invoice (str):
        cursor (str | Unset):
        limit (int | Unset):
        sort (ListPaymentsSort | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            invoice=invoice,
            cursor=cursor,
            limit=limit,
            sort=sort,
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
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListPaymentsSort | Unset = UNSET,
) -> PaymentPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        invoice=invoice,
        client=client,
        cursor=cursor,
        limit=limit,
        sort=sort,
    ).parsed
