from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.replacement_create_request import ReplacementCreateRequest
from ...models.staff_invoice import StaffInvoice
from ...types import UNSET, Response, Unset


def _request(
    invoice: str,
    *,
    body: ReplacementCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/invoices/{invoice}/replacement".format(
            invoice=quote(str(invoice), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> StaffInvoice:
    if response.status_code == 201:
        response_201 = StaffInvoice.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    invoice: str,
    *,
    client: AuthenticatedClient,
    body: ReplacementCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[StaffInvoice]:
    """Replace an invoice.

    Void the issued invoice of this number or id, and issue a new one in its place.

    An invoice that is void already is replaced, too. Returns the new invoice. Replacing again
    changes nothing. The credit note that voids the invoice prints the reason.

    Args:
        invoice (str):
        idempotency_key (str | Unset):
        body (ReplacementCreateRequest): Why the invoice is replaced, which the credit note
            prints.

            With `confirmed`, the `sha256` of a preview, the request is refused (409) if the
            billing details
            or the tax have changed since.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            invoice=invoice,
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
    invoice: str,
    *,
    client: AuthenticatedClient,
    body: ReplacementCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> StaffInvoice:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        invoice=invoice,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
