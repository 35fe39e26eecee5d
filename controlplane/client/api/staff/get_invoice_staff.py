from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.staff_invoice_detail import StaffInvoiceDetail
from ...types import Response


def _request(
    invoice: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/invoices/{invoice}".format(
            invoice=quote(str(invoice), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> StaffInvoiceDetail:
    if response.status_code == 200:
        response_200 = StaffInvoiceDetail.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    invoice: str,
    *,
    client: AuthenticatedClient,
) -> Response[StaffInvoiceDetail]:
    """Get an invoice as staff.

    Return the invoice of this number or id, with its document.

    `document` is null until the period has been closed successfully.

    Args:
        invoice (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            invoice=invoice,
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
) -> StaffInvoiceDetail:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        invoice=invoice,
        client=client,
    ).parsed
