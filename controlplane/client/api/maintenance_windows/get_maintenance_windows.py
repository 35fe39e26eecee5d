from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.maintenance_windows import Windows
from ...types import Response


def _request(
    tenant: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/maintenance-windows".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Windows:
    if response.status_code == 200:
        response_200 = Windows.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
) -> Response[Windows]:
    """Get maintenance windows.

    Return the windows, by weekday and time.

    Rollouts restart ready spaces only in these windows; without any window, at any time.

    Args:
        tenant (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
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
) -> Windows:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
    ).parsed
