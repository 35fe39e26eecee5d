from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.tax_report import TaxReport
from ...types import UNSET, Response, Unset


def _request(
    *,
    first: str | Unset = UNSET,
    last: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["first"] = first

    params["last"] = last

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/tax-report",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> TaxReport:
    if response.status_code == 200:
        response_200 = TaxReport.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    first: str | Unset = UNSET,
    last: str | Unset = UNSET,
) -> Response[TaxReport]:
    """Get the tax report.

    Return the taxes of invoices and credit notes by month of issue, and reverse charge.

    The tax of each month, legal entity and currency is compared with the ledger.

    Args:
        first (str | Unset):
        last (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            first=first,
            last=last,
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
    *,
    client: AuthenticatedClient,
    first: str | Unset = UNSET,
    last: str | Unset = UNSET,
) -> TaxReport:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        first=first,
        last=last,
    ).parsed
