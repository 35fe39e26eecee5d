from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.list_messaging_users_phase import (
    ListMessagingUsersPhase,
)
from ...models.list_messaging_users_sort import (
    ListMessagingUsersSort,
)
from ...models.messaging_user_page import MessagingUserPage
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    phase: ListMessagingUsersPhase | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListMessagingUsersSort | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    json_phase: str | Unset = UNSET
    if not isinstance(phase, Unset):
        json_phase = phase

    params["phase"] = json_phase

    params["search"] = search

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/users".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> MessagingUserPage:
    if response.status_code == 200:
        response_200 = MessagingUserPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    phase: ListMessagingUsersPhase | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListMessagingUsersSort | Unset = UNSET,
) -> Response[MessagingUserPage]:
    """List messaging users.

    Return a page of the space's messaging users, also of those being revoked.

    Args:
        tenant (str):
        space (str):
        cursor (str | Unset):
        limit (int | Unset):
        phase (ListMessagingUsersPhase | Unset):
        search (str | Unset):
        sort (ListMessagingUsersSort | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            cursor=cursor,
            limit=limit,
            phase=phase,
            search=search,
            sort=sort,
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
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    phase: ListMessagingUsersPhase | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListMessagingUsersSort | Unset = UNSET,
) -> MessagingUserPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        client=client,
        cursor=cursor,
        limit=limit,
        phase=phase,
        search=search,
        sort=sort,
    ).parsed
