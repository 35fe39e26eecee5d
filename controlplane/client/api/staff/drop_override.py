from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...types import Response


def _request(
    tenant: str,
    resource: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "DELETE",
        "url": "/api/v1/staff/tenants/{tenant}/quotas/{resource}".format(
            tenant=quote(str(tenant), safe=""),
            resource=quote(str(resource), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Any:
    if response.status_code == 204:
        return None

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    resource: str,
    *,
    client: AuthenticatedClient,
) -> Response[Any]:
    """Drop an override.

    Remove the override of the resource, so that the plan's limit applies again.

    Without an override, nothing changes.

    Args:
        tenant (str):
        resource (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            resource=resource,
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
    resource: str,
    *,
    client: AuthenticatedClient,
) -> None:
    """As ``sync_detailed``, but return the body, which is empty."""
    sync_detailed(
        tenant=tenant,
        resource=resource,
        client=client,
    )
