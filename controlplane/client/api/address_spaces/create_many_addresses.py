from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.bulk_addresses_request import BulkAddressesRequest
from ...models.bulk_answer import BulkAnswer
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    *,
    body: BulkAddressesRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/bulk/create-addresses".format(
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
    body: BulkAddressesRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[BulkAnswer]:
    """Create many addresses.

    Begin to create up to 100 addresses, each as `POST …/addresses` would.

    The answer is 200 also if items were refused: look at `n_refused`.

    Args:
        tenant (str):
        space (str):
        idempotency_key (str | Unset):
        body (BulkAddressesRequest): Addresses to create, in this order: a topic stands
            before its subscriptions.

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
    body: BulkAddressesRequest,
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
