from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.get_invoice_document_json_staff_response_200 import (
    GetInvoiceDocumentJsonStaffResponse200,
)
from ...types import Response


def _request(
    invoice: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/invoices/{invoice}.json".format(
            invoice=quote(str(invoice), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> GetInvoiceDocumentJsonStaffResponse200:
    if response.status_code == 200:
        response_200 = GetInvoiceDocumentJsonStaffResponse200.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    invoice: str,
    *,
    client: AuthenticatedClient,
) -> Response[GetInvoiceDocumentJsonStaffResponse200]:
    """Get an invoice's document as JSON, as staff.

    Return exactly the bytes that a verification of the invoice compares.

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
) -> GetInvoiceDocumentJsonStaffResponse200:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        invoice=invoice,
        client=client,
    ).parsed
