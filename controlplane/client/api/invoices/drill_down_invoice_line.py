import datetime
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.divided_line import DividedLine
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    invoice: str,
    position: int,
    *,
    day: datetime.date | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_day: str | Unset = UNSET
    if not isinstance(day, Unset):
        json_day = day.isoformat()
    params["day"] = json_day

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/invoices/{invoice}/lines/{position}".format(
            tenant=quote(str(tenant), safe=""),
            invoice=quote(str(invoice), safe=""),
            position=quote(str(position), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> DividedLine:
    if response.status_code == 200:
        response_200 = DividedLine.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    invoice: str,
    position: int,
    *,
    client: AuthenticatedClient,
    day: datetime.date | Unset = UNSET,
) -> Response[DividedLine]:
    """Drill down an invoice line.

    Return the days of the line with this position, or the hours of `day`.

    A line that does not come from usage is refused (409); the message says where it comes from.

    Args:
        tenant (str):
        invoice (str):
        position (int):
        day (datetime.date | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            invoice=invoice,
            position=position,
            day=day,
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
    position: int,
    *,
    client: AuthenticatedClient,
    day: datetime.date | Unset = UNSET,
) -> DividedLine:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        invoice=invoice,
        position=position,
        client=client,
        day=day,
    ).parsed
