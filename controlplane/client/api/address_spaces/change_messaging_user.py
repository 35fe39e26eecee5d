from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.messaging_user_change_request import MessagingUserChangeRequest
from ...models.operation import Operation
from ...types import Response


def _request(
    tenant: str,
    space: str,
    user: str,
    *,
    body: MessagingUserChangeRequest,
    if_match: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "PUT",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/users/{user}".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
            user=quote(str(user), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Operation:
    if response.status_code == 202:
        response_202 = Operation.from_dict(response.json())

        return response_202

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    user: str,
    *,
    client: AuthenticatedClient,
    body: MessagingUserChangeRequest,
    if_match: str,
) -> Response[Operation]:
    """Change a messaging user.

    Begin to replace all permissions of the user, and the password if one is given.

    Args:
        tenant (str):
        space (str):
        user (str):
        if_match (str):
        body (MessagingUserChangeRequest): All permissions of a messaging user, and a new
            password.

            A null or absent password keeps the present one.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            user=user,
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
    space: str,
    user: str,
    *,
    client: AuthenticatedClient,
    body: MessagingUserChangeRequest,
    if_match: str,
) -> Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        user=user,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed
