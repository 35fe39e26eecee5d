from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.commitment import Commitment
from ...models.commitment_create_request import CommitmentCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: CommitmentCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/commitments".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Commitment:
    if response.status_code == 201:
        response_201 = Commitment.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: CommitmentCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Commitment]:
    """Agree on a commitment.

    Record what the tenant pays at least for each month.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (CommitmentCreateRequest): What the tenant pays at least for a month, before
            tax, in minor units.

            Without instants it begins with the running billing month and does not end.
            `starts_at` without
            `ends_at` is refused, and so is the reverse.

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
    body: CommitmentCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Commitment:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
