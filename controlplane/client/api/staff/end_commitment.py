from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.commitment import Commitment
from ...models.commitment_end_request import CommitmentEndRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    commitment: str,
    *,
    body: CommitmentEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/commitments/{commitment}/end".format(
            tenant=quote(str(tenant), safe=""),
            commitment=quote(str(commitment), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Commitment:
    if response.status_code == 200:
        response_200 = Commitment.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    commitment: str,
    *,
    client: AuthenticatedClient,
    body: CommitmentEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Commitment]:
    """End a commitment.

    End the commitment. The month of its end counts by its seconds.

    The request is refused (409) if an invoice after the new end was priced with the commitment.

    Args:
        tenant (str):
        commitment (str):
        idempotency_key (str | Unset):
        body (CommitmentEndRequest): Why a commitment ends, and when; without `ends_at` with
            the running billing month.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            commitment=commitment,
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
    commitment: str,
    *,
    client: AuthenticatedClient,
    body: CommitmentEndRequest,
    idempotency_key: str | Unset = UNSET,
) -> Commitment:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        commitment=commitment,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
