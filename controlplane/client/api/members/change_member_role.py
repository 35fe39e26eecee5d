from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.member import Member
from ...models.member_role_request import MemberRoleRequest
from ...types import Response


def _request(
    tenant: str,
    email: str,
    *,
    body: MemberRoleRequest,
    if_match: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "PUT",
        "url": "/api/v1/tenants/{tenant}/members/{email}".format(
            tenant=quote(str(tenant), safe=""),
            email=quote(str(email), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Member:
    if response.status_code == 200:
        response_200 = Member.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    email: str,
    *,
    client: AuthenticatedClient,
    body: MemberRoleRequest,
    if_match: str,
) -> Response[Member]:
    """Change a member's role.

    Change the member's role. The last owner must remain an owner.

    Neither the old nor the new role may have permissions that you lack.

    Args:
        tenant (str):
        email (str):
        if_match (str):
        body (MemberRoleRequest): The new role of a member.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            email=email,
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
    email: str,
    *,
    client: AuthenticatedClient,
    body: MemberRoleRequest,
    if_match: str,
) -> Member:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        email=email,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed
