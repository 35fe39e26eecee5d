from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.get_invoice_document_json_response_200 import (
    GetInvoiceDocumentJsonResponse200,
)
from ...types import Response


def _request(
    tenant: str,
    invoice: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/invoices/{invoice}.json".format(
            tenant=quote(str(tenant), safe=""),
            invoice=quote(str(invoice), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> GetInvoiceDocumentJsonResponse200:
    if response.status_code == 200:
        response_200 = GetInvoiceDocumentJsonResponse200.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    invoice: str,
    *,
    client: AuthenticatedClient,
) -> Response[GetInvoiceDocumentJsonResponse200]:
    """Get an invoice's document as JSON.

    Return exactly the bytes that a verification of the invoice compares.

    Args:
        tenant (str):
        invoice (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
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
    tenant: str,
    invoice: str,
    *,
    client: AuthenticatedClient,
) -> GetInvoiceDocumentJsonResponse200:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        invoice=invoice,
        client=client,
    ).parsed
