from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...types import Response


def _request(
    tenant: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/metrics".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> str:
    if response.status_code == 200:
        response_200 = response.text
        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
) -> Response[str]:
    """Get metrics.

    Return spaces, addresses and quotas of the tenant in Prometheus' text format.

    Send a token of the tenant: a person's login is refused (403). The messages in and out of an
    address are counted since its first sample. The answer names at most 2,000 addresses.
    `waypost_addresses_left_out` is the number of other addresses, such as those without a
    sample.

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
) -> str:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
    ).parsed
