from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.credit_note_verification import CreditNoteVerification
from ...types import UNSET, Response, Unset


def _request(
    credit_note: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/credit-notes/{credit_note}/verify".format(
            credit_note=quote(str(credit_note), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> CreditNoteVerification:
    if response.status_code == 200:
        response_200 = CreditNoteVerification.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    credit_note: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Response[CreditNoteVerification]:
    """Verify a credit note as staff.

    Compute the credit note again from its invoice, and compare document, amounts, ledger.

    Args:
        credit_note (str):
        idempotency_key (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            credit_note=credit_note,
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
    credit_note: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> CreditNoteVerification:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        credit_note=credit_note,
        client=client,
        idempotency_key=idempotency_key,
    ).parsed
