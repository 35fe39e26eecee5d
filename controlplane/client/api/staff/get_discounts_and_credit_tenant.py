from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.benefits import Benefits
from ...types import Response


def _request(
    tenant: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/tenants/{tenant}/benefits".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Benefits:
    if response.status_code == 200:
        response_200 = Benefits.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
) -> Response[Benefits]:
    """Get discounts and credit of a tenant.

    Return the credit, discounts and commitments, ended ones too, and the running trial.

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
) -> Benefits:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
    ).parsed
