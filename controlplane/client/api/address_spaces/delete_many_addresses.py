from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.bulk_answer import BulkAnswer
from ...models.bulk_names_request import BulkNamesRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    *,
    body: BulkNamesRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/bulk/delete-addresses".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> BulkAnswer:
    if response.status_code == 200:
        response_200 = BulkAnswer.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    *,
    client: AuthenticatedClient,
    body: BulkNamesRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[BulkAnswer]:
    """Delete many addresses.

    Begin to delete up to 500 addresses with their stored messages.

    An address is deleted before those that its settings name, whatever the order of the names.

    Args:
        tenant (str):
        space (str):
        idempotency_key (str | Unset):
        body (BulkNamesRequest): Names of addresses to delete, or of messaging users to
            revoke.

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
    body: BulkNamesRequest,
    idempotency_key: str | Unset = UNSET,
) -> BulkAnswer:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
