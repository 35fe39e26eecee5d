from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.defaults import Defaults
from ...models.patched_defaults_change_request import PatchedDefaultsChangeRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: PatchedDefaultsChangeRequest | Unset = UNSET,
    if_match: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "PATCH",
        "url": "/api/v1/tenants/{tenant}/notification-preferences".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Defaults:
    if response.status_code == 200:
        response_200 = Defaults.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: PatchedDefaultsChangeRequest | Unset = UNSET,
    if_match: str,
) -> Response[Defaults]:
    """Change notification defaults.

    Change the defaults of members who chose nothing themselves, or the budget.

    Args:
        tenant (str):
        if_match (str):
        body (PatchedDefaultsChangeRequest | Unset): Defaults to change; absent fields and
            kinds stay as they are.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            body=body,
            if_match=if_match,
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
    body: PatchedDefaultsChangeRequest | Unset = UNSET,
    if_match: str,
) -> Defaults:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed
