from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.credit_note import CreditNote
from ...models.credit_note_create_request import CreditNoteCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    invoice: str,
    *,
    body: CreditNoteCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/invoices/{invoice}/credit-notes".format(
            invoice=quote(str(invoice), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> CreditNote:
    if response.status_code == 201:
        response_201 = CreditNote.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    invoice: str,
    *,
    client: AuthenticatedClient,
    body: CreditNoteCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[CreditNote]:
    """Issue a credit note.

    Take back amounts of lines of the issued invoice of this number or id.

    More than is left of a line, or of the invoice, is refused (409). The amount of a line is
    before discounts, which have lines of their own: subtract the share of the discounts, or
    more is taken back than the tenant was charged for the line.

    Args:
        invoice (str):
        idempotency_key (str | Unset):
        body (CreditNoteCreateRequest): The lines to take back, each once, and the reason,
            which the credit note prints.

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
    body: CreditNoteCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> CreditNote:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        invoice=invoice,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
