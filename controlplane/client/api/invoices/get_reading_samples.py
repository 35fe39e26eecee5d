from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.reading import Reading
from ...types import Response


def _request(
    tenant: str,
    invoice: str,
    reading: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/invoices/{invoice}/sample-readings/{reading}".format(
            tenant=quote(str(tenant), safe=""),
            invoice=quote(str(invoice), safe=""),
            reading=quote(str(reading), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Reading:
    if response.status_code == 200:
        response_200 = Reading.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    invoice: str,
    reading: str,
    *,
    client: AuthenticatedClient,
) -> Response[Reading]:
    """Get a reading of samples.

    Return what was read: hashes and usage by hour; `finished_at` is null until it is.

    Args:
        tenant (str):
        invoice (str):
        reading (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            invoice=invoice,
            reading=reading,
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
    invoice: str,
    reading: str,
    *,
    client: AuthenticatedClient,
) -> Reading:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        invoice=invoice,
        reading=reading,
        client=client,
    ).parsed
