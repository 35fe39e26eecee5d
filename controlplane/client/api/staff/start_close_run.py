from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.close_run_create_request import CloseRunCreateRequest
from ...models.close_run_detail import CloseRunDetail
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: CloseRunCreateRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/close-runs",
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> CloseRunDetail:
    if response.status_code == 202:
        response_202 = CloseRunDetail.from_dict(response.json())

        return response_202

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CloseRunCreateRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[CloseRunDetail]:
    """Start a close run.

    Begin to close all due periods, of all tenants or of some.

    Each invoice becomes a draft or is held. The request is refused (409) if nothing is to
    close.

    Args:
        idempotency_key (str | Unset):
        body (CloseRunCreateRequest | Unset): What a close run closes: all due periods,
            unless something narrower is named.

            `tenants` are slugs; empty: all tenants. `skip_grace` also closes periods that are
            over but
            whose grace period is not. `again` closes held invoices again, and no new periods.

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
    body: CloseRunCreateRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> CloseRunDetail:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
