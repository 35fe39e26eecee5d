from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.identity_provider_request import IdentityProviderRequest
from ...models.set_identity_provider_if_none_match import (
    SetIdentityProviderIfNoneMatch,
)
from ...models.shown_provider import ShownProvider
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: IdentityProviderRequest,
    if_match: str | Unset = UNSET,
    if_none_match: SetIdentityProviderIfNoneMatch | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = str(if_none_match)

    _kwargs: dict[str, Any] = {
        "method": "PUT",
        "url": "/api/v1/tenants/{tenant}/identity-provider".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> ShownProvider:
    if response.status_code == 200:
        response_200 = ShownProvider.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: IdentityProviderRequest,
    if_match: str | Unset = UNSET,
    if_none_match: SetIdentityProviderIfNoneMatch | Unset = UNSET,
) -> Response[ShownProvider]:
    """Set the identity provider.

    Set the tenant's own identity provider. The operator confirms new domains.

    With another issuer, people connect their accounts once more.

    Args:
        tenant (str):
        if_match (str | Unset):
        if_none_match (SetIdentityProviderIfNoneMatch | Unset):
        body (IdentityProviderRequest): An OpenID provider, with Waypost as its client.

            `client_secret` can be left out of a change: the stored one stays. A new `issuer`
            needs a new
            one. People log in with email addresses of `domains`. `group_roles` maps groups of
            the claim
            `groups_claim` to roles; a person in none of these groups gets `default_role`. A
            person without
            a role cannot log in.

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
            if_none_match=if_none_match,
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
    body: IdentityProviderRequest,
    if_match: str | Unset = UNSET,
    if_none_match: SetIdentityProviderIfNoneMatch | Unset = UNSET,
) -> ShownProvider:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    ).parsed
