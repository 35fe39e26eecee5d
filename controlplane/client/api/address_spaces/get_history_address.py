from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.get_history_address_span import (
    GetHistoryAddressSpan,
)
from ...models.history import History
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    address: str,
    *,
    span: GetHistoryAddressSpan | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_span: str | Unset = UNSET
    if not isinstance(span, Unset):
        json_span = span

    params["span"] = json_span

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/addresses/{address}/history".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
            address=quote(str(address), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> History:
    if response.status_code == 200:
        response_200 = History.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    address: str,
    *,
    client: AuthenticatedClient,
    span: GetHistoryAddressSpan | Unset = UNSET,
) -> Response[History]:
    """Get the history of an address.

    Return the messages, depth, bytes and consumers of the address in each step up to now.

    If the space has an address whose name is this one with `/history`, send `span`: without it,
    the answer is that address.

    Args:
        tenant (str):
        space (str):
        address (str):
        span (GetHistoryAddressSpan | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            address=address,
            span=span,
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
    address: str,
    *,
    client: AuthenticatedClient,
    span: GetHistoryAddressSpan | Unset = UNSET,
) -> History:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        address=address,
        client=client,
        span=span,
    ).parsed
