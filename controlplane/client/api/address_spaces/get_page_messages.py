from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.message_page import MessagePage
from ...types import Response


def _request(
    tenant: str,
    space: str,
    page: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/messages/pages/{page}".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
            page=quote(str(page), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> MessagePage:
    if response.status_code == 200:
        response_200 = MessagePage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    page: str,
    *,
    client: AuthenticatedClient,
) -> Response[MessagePage]:
    """Get a page of messages.

    Return the page that a browse operation has read; `page` is its `subject_id`.

    The page is empty until the operation has succeeded. Some five minutes later it is deleted
    (404).

    Args:
        tenant (str):
        space (str):
        page (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            page=page,
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
    page: str,
    *,
    client: AuthenticatedClient,
) -> MessagePage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        page=page,
        client=client,
    ).parsed
