from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.operation import Operation
from ...types import Response


def _request(
    tenant: str,
    operation: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/operations/{operation}".format(
            tenant=quote(str(tenant), safe=""),
            operation=quote(str(operation), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Operation:
    if response.status_code == 200:
        response_200 = Operation.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    operation: str,
    *,
    client: AuthenticatedClient,
) -> Response[Operation]:
    """Get an operation.

    Return the operation. Poll it at most once a second, until `state` is not Running.

    A token needs no permission to read an operation that it started itself.

    Args:
        tenant (str):
        operation (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            operation=operation,
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
    operation: str,
    *,
    client: AuthenticatedClient,
) -> Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        operation=operation,
        client=client,
    ).parsed
