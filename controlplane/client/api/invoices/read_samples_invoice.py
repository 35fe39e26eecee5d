from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.operation import Operation
from ...models.reading_create_request import ReadingCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    invoice: str,
    *,
    body: ReadingCreateRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants/{tenant}/invoices/{invoice}/sample-readings".format(
            tenant=quote(str(tenant), safe=""),
            invoice=quote(str(invoice), safe=""),
        ),
    }

    if not isinstance(body, Unset):
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
    tenant: str,
    invoice: str,
    *,
    client: AuthenticatedClient,
    body: ReadingCreateRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Operation]:
    """Read the samples of an invoice.

    Begin to read usage and samples of a part of the invoice's period, at pinned versions.

    The `subject_id` of the operation names the reading. The reading keeps at most 5,000
    samples, from number `first` on, for a day. A second request for the same part and `first`
    returns the same reading.

    Args:
        tenant (str):
        invoice (str):
        idempotency_key (str | Unset):
        body (ReadingCreateRequest | Unset): The part of the invoice's period to read;
            without times, all of it.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
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
    tenant: str,
    invoice: str,
    *,
    client: AuthenticatedClient,
    body: ReadingCreateRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        invoice=invoice,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
