from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.open_items import OpenItems
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    as_of: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["as_of"] = as_of

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/tenants/{tenant}/open-items".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> OpenItems:
    if response.status_code == 200:
        response_200 = OpenItems.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    as_of: str | Unset = UNSET,
) -> Response[OpenItems]:
    """List open items of a tenant.

    Return the invoices that the tenant owed on a day (UTC), the oldest debt first.

    Args:
        tenant (str):
        as_of (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            as_of=as_of,
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
    as_of: str | Unset = UNSET,
) -> OpenItems:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        as_of=as_of,
    ).parsed
