from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.operation import Operation
from ...models.release_request import ReleaseRequest
from ...types import UNSET, Response, Unset


def _request(
    invoice: str,
    *,
    body: ReleaseRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/invoices/{invoice}/release".format(
            invoice=quote(str(invoice), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
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
    body: ReleaseRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Operation]:
    """Release a held invoice.

    Accept that samples of the held invoice with this id are missing, and close it again.

    Accepts the reasons `samples.hole_at_end`, `samples.fall` and `samples.none` that the
    invoice has now. Any other reason holds the invoice again. What was not seen is not billed.
    The invoice states the reason that you give. An invoice without such a reason is refused
    (409).

    Args:
        invoice (str):
        idempotency_key (str | Unset):
        body (ReleaseRequest): Why the missing samples cannot be had any more. The invoice
            and the audit log state it.

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
    body: ReleaseRequest,
    idempotency_key: str | Unset = UNSET,
) -> Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        invoice=invoice,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
