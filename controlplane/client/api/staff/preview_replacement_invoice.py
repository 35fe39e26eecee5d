from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.replacement_preview import ReplacementPreview
from ...types import Response


def _request(
    invoice: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/invoices/{invoice}/replacement".format(
            invoice=quote(str(invoice), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> ReplacementPreview:
    if response.status_code == 200:
        response_200 = ReplacementPreview.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    invoice: str,
    *,
    client: AuthenticatedClient,
) -> Response[ReplacementPreview]:
    """Preview the replacement of an invoice.

    Return the invoice that would replace the issued invoice of this number or id.

    It has the same lines, and the billing details and the tax that the tenant has now. Nothing
    is stored. An invoice that is not issued, or is replaced already, is refused (409).

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
) -> ReplacementPreview:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        invoice=invoice,
        client=client,
    ).parsed
