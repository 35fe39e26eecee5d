from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.approve_request import ApproveRequest
from ...models.staff_invoice import StaffInvoice
from ...types import UNSET, Response, Unset


def _request(
    invoice: str,
    *,
    body: ApproveRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/invoices/{invoice}/approve".format(
            invoice=quote(str(invoice), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> StaffInvoice:
    if response.status_code == 200:
        response_200 = StaffInvoice.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    invoice: str,
    *,
    client: AuthenticatedClient,
    body: ApproveRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[StaffInvoice]:
    """Approve an invoice.

    Approve the draft invoice with this id. Approving again changes nothing.

    The request is refused (409) while the previous invoice of the same month is not approved.

    Args:
        invoice (str):
        idempotency_key (str | Unset):
        body (ApproveRequest | Unset): An optional reason for the approval, which the audit
            log shows.

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
    body: ApproveRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> StaffInvoice:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        invoice=invoice,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
