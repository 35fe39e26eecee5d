from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.pause_request import PauseRequest
from ...models.paused import Paused
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: PauseRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/pause-dunning".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Paused:
    if response.status_code == 200:
        response_200 = Paused.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: PauseRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Paused]:
    """Pause dunning.

    Pause dunning: no reminders, and what unpaid invoices have stopped works again.

    A second pause replaces the first.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (PauseRequest): Why dunning of a tenant pauses; the audit log shows it. Without
            `until`, staff resume it.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
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
    *,
    client: AuthenticatedClient,
    body: PauseRequest,
    idempotency_key: str | Unset = UNSET,
) -> Paused:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
