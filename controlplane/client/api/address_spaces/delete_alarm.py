from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    alarm: str,
    *,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "DELETE",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/alarms/{alarm}".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
            alarm=quote(str(alarm), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Any:
    if response.status_code == 204:
        return None

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    alarm: str,
    *,
    client: AuthenticatedClient,
    if_match: str | Unset = UNSET,
) -> Response[Any]:
    """Delete an alarm.

    Delete the alarm. If it is raised, the event `alarm.cleared` says that it is over.

    Args:
        tenant (str):
        space (str):
        alarm (str):
        if_match (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            alarm=alarm,
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
    alarm: str,
    *,
    client: AuthenticatedClient,
    if_match: str | Unset = UNSET,
) -> None:
    """As ``sync_detailed``, but return the body, which is empty."""
    sync_detailed(
        tenant=tenant,
        space=space,
        alarm=alarm,
        client=client,
        if_match=if_match,
    )
