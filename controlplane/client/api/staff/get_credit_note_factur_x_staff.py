from io import BytesIO
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...types import File, Response


def _request(
    credit_note: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/credit-notes/{credit_note}.facturx.pdf".format(
            credit_note=quote(str(credit_note), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> File:
    if response.status_code == 200:
        response_200 = File(payload=BytesIO(response.content))

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    credit_note: str,
    *,
    client: AuthenticatedClient,
) -> Response[File]:
    """Get a credit note as Factur-X, as staff.

    Return the credit note of this number as a file.

    Args:
        credit_note (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            credit_note=credit_note,
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
    credit_note: str,
    *,
    client: AuthenticatedClient,
) -> File:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        credit_note=credit_note,
        client=client,
    ).parsed
