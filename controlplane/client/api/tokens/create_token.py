from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.new_token import NewToken
from ...models.token_create_request import TokenCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: TokenCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants/{tenant}/tokens".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> NewToken:
    if response.status_code == 201:
        response_201 = NewToken.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: TokenCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[NewToken]:
    """Create a token.

    Create a token for a program. Only this answer contains its secret.

    Its role must not have permissions that you lack.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (TokenCreateRequest): A token to create.

            Without `expires_at` it expires in 90 days; null means never. `spaces` limits it to
            spaces with
            these names, `permissions` to these permissions of its role; empty lists do not
            limit.

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
    body: TokenCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> NewToken:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
