from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.new_token import NewToken
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    token: int,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants/{tenant}/tokens/{token}/rotate".format(
            tenant=quote(str(tenant), safe=""),
            token=quote(str(token), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> NewToken:
    if response.status_code == 201:
        response_201 = NewToken.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    token: int,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Response[NewToken]:
    """Rotate a token.

    Replace the token: the same name, role, scope and lifetime, and a new secret.

    The former secret stops working at once. A token that never expires gets 90 days.

    Args:
        tenant (str):
        token (int):
        idempotency_key (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            token=token,
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
    token: int,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> NewToken:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        token=token,
        client=client,
        idempotency_key=idempotency_key,
    ).parsed
