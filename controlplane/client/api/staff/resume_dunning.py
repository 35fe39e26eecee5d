from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/resume-dunning".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Any:
    if response.status_code == 204:
        return None

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Response[Any]:
    """Resume dunning.

    End the pause. The tenant gets notice again, and nothing is stopped before it ends.

    Args:
        tenant (str):
        idempotency_key (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
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
    idempotency_key: str | Unset = UNSET,
) -> None:
    """As ``sync_detailed``, but return the body, which is empty."""
    sync_detailed(
        tenant=tenant,
        client=client,
        idempotency_key=idempotency_key,
    )
