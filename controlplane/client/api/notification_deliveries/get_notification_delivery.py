from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.delivery_detail import DeliveryDetail
from ...types import Response


def _request(
    tenant: str,
    delivery: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/notification-deliveries/{delivery}".format(
            tenant=quote(str(tenant), safe=""),
            delivery=quote(str(delivery), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> DeliveryDetail:
    if response.status_code == 200:
        response_200 = DeliveryDetail.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    delivery: str,
    *,
    client: AuthenticatedClient,
) -> Response[DeliveryDetail]:
    """Get a notification delivery.

    Return the delivery, each attempt, and the beginning of each answer.

    The caller needs the permission of the event's kind.

    Args:
        tenant (str):
        delivery (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            delivery=delivery,
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
    delivery: str,
    *,
    client: AuthenticatedClient,
) -> DeliveryDetail:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        delivery=delivery,
        client=client,
    ).parsed
