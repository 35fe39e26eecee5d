from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.operation import Operation
from ...models.verify_invoice_staff_files import (
    VerifyInvoiceStaffFiles,
)
from ...types import UNSET, Response, Unset


def _request(
    invoice: str,
    *,
    files: VerifyInvoiceStaffFiles | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    params: dict[str, Any] = {}

    json_files: str | Unset = UNSET
    if not isinstance(files, Unset):
        json_files = files

    params["files"] = json_files

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/invoices/{invoice}/verify".format(
            invoice=quote(str(invoice), safe=""),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Operation:
    if response.status_code == 202:
        response_202 = Operation.from_dict(response.json())

        return response_202

    raise errors.unexpected(response)


def sync_detailed(
    invoice: str,
    *,
    client: AuthenticatedClient,
    files: VerifyInvoiceStaffFiles | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Operation]:
    """Verify an invoice as staff.

    Begin to compute the invoice of this number or id again, as its tenant can.

    Poll the operation at the path in `Location`, which staff may read. It succeeds if each
    place where the figures stand is the same. Otherwise it fails, and its steps name what
    differs in each place.

    Args:
        invoice (str):
        files (VerifyInvoiceStaffFiles | Unset):
        idempotency_key (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            invoice=invoice,
            files=files,
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
    files: VerifyInvoiceStaffFiles | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        invoice=invoice,
        client=client,
        files=files,
        idempotency_key=idempotency_key,
    ).parsed
