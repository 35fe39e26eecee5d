from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.invoice_change import InvoiceChange
from ...types import UNSET, Response


def _request(
    tenant: str,
    invoice: str,
    *,
    from_: str,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["from"] = from_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/invoices/{invoice}/change".format(
            tenant=quote(str(tenant), safe=""),
            invoice=quote(str(invoice), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> InvoiceChange:
    if response.status_code == 200:
        response_200 = InvoiceChange.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    invoice: str,
    *,
    client: AuthenticatedClient,
    from_: str,
) -> Response[InvoiceChange]:
    """Explain an invoice's change.

    Return the change from the invoice `from` to this one, split by cause.

    Both are a number, an id, a month such as 2026-10 with one invoice, or `preview`: the
    running period.

    Args:
        tenant (str):
        invoice (str):
        from_ (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            invoice=invoice,
            from_=from_,
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
    from_: str,
) -> InvoiceChange:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        invoice=invoice,
        client=client,
        from_=from_,
    ).parsed
