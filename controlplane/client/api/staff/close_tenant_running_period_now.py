from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.close_now_request import CloseNowRequest
from ...models.operation import Operation
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: CloseNowRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/invoices/close-now",
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
    *,
    client: AuthenticatedClient,
    body: CloseNowRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Operation]:
    """Close a tenant's running period now.

    End the tenant's billing period at this instant and begin to close it at once.

    There is no grace period. The next period begins at this instant. `subject_id` of the
    operation is the id of the invoice, which becomes a draft or is held.

    Args:
        idempotency_key (str | Unset):
        body (CloseNowRequest): The slug of the tenant whose running billing period is to be
            closed.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
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
    *,
    client: AuthenticatedClient,
    body: CloseNowRequest,
    idempotency_key: str | Unset = UNSET,
) -> Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
