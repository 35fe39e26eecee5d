from io import BytesIO
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...types import File, Response


def _request(
    invoice: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/invoices/{invoice}.cii.xml".format(
            invoice=quote(str(invoice), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> File:
    if response.status_code == 200:
        response_200 = File(payload=BytesIO(response.content))

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    invoice: str,
    *,
    client: AuthenticatedClient,
) -> Response[File]:
    """Get an invoice as CII, as staff.

    Return the issued invoice of this number or id as UN/CEFACT Cross Industry Invoice by EN
    16931. An invoice that lacks what the standard demands is refused (409), with what is
    missing.

    Args:
        invoice (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            invoice=invoice,
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
    invoice: str,
    *,
    client: AuthenticatedClient,
) -> File:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        invoice=invoice,
        client=client,
    ).parsed
