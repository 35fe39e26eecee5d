from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.closure import Closure
from ...models.closure_request_request import ClosureRequestRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: ClosureRequestRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants/{tenant}/closure".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Closure:
    if response.status_code == 200:
        response_200 = Closure.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: ClosureRequestRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Closure]:
    """Close a tenant.

    Request that the tenant is closed: clients cannot send, and members can change little.

    From `erase_at` on, its spaces and messages are deleted, and its plan ends; until then an
    owner can undo this. Its members are removed and its tokens revoked later, once every
    invoice is issued. Invoices, usage and the audit log stay. A repeated request keeps the
    first time.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (ClosureRequestRequest): The slug of the tenant, typed once more, so that no
            wrong tenant is closed.

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
    body: ClosureRequestRequest,
    idempotency_key: str | Unset = UNSET,
) -> Closure:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
