from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.messaging_user import MessagingUser
from ...types import Response


def _request(
    tenant: str,
    space: str,
    user: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/users/{user}".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
            user=quote(str(user), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> MessagingUser:
    if response.status_code == 200:
        response_200 = MessagingUser.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    user: str,
    *,
    client: AuthenticatedClient,
) -> Response[MessagingUser]:
    """Get a messaging user.

    Return the messaging user of this name. The ETag identifies its desired state.

    Args:
        tenant (str):
        space (str):
        user (str):

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
) -> MessagingUser:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        user=user,
        client=client,
    ).parsed
