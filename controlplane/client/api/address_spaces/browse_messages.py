from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.browse_request import BrowseRequest
from ...models.operation import Operation
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    *,
    body: BrowseRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/messages/browse".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Operation:
    if response.status_code == 202:
        response_202 = Operation.from_dict(response.json())

        return response_202

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    *,
    client: AuthenticatedClient,
    body: BrowseRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Operation]:
    """Browse messages.

    Begin to read a page of messages that a queue or subscription stores; none is consumed.

    When the operation has succeeded, get the page with its `subject_id`.

    Args:
        tenant (str):
        space (str):
        idempotency_key (str | Unset):
        body (BrowseRequest): A page of an address to read; `after` is empty for the first
            page.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            body=body,
            idempotency_key=idempotency_key,
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
    body: BrowseRequest,
    idempotency_key: str | Unset = UNSET,
) -> Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
