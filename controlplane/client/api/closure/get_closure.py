from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.closure import Closure
from ...types import Response


def _request(
    tenant: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/closure".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Closure:
    if response.status_code == 200:
        response_200 = Closure.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
) -> Response[Closure]:
    """Get the closure.

    Return when the erasure begins; null if nobody has requested to close it.

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
) -> Closure:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
    ).parsed
