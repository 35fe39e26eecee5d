import datetime
from io import BytesIO
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...types import UNSET, File, Response, Unset


def _request(
    *,
    ends_at: datetime.datetime | Unset = UNSET,
    starts_at: datetime.datetime | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_ends_at: str | Unset = UNSET
    if not isinstance(ends_at, Unset):
        json_ends_at = ends_at.isoformat()
    params["ends_at"] = json_ends_at

    json_starts_at: str | Unset = UNSET
    if not isinstance(starts_at, Unset):
        json_starts_at = starts_at.isoformat()
    params["starts_at"] = json_starts_at

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/exports/focus.parquet",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> File:
    if response.status_code == 200:
        response_200 = File(payload=BytesIO(response.content))

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    ends_at: datetime.datetime | Unset = UNSET,
    starts_at: datetime.datetime | Unset = UNSET,
) -> Response[File]:
    """Export Charges by FOCUS of all tenants as Parquet.

    Return the charges of invoices whose period begins in the window, and of credit notes that
    were issued in it, by FOCUS 1.0. A window of too many rows is refused (422). The bounds are
    read on the clock of each invoice's billing time zone: 2026-11-01T00:00:00Z is the beginning
    of November in each. For credit notes they are in UTC.

    Args:
        ends_at (datetime.datetime | Unset):
        starts_at (datetime.datetime | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            ends_at=ends_at,
            starts_at=starts_at,
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
    ends_at: datetime.datetime | Unset = UNSET,
    starts_at: datetime.datetime | Unset = UNSET,
) -> File:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        ends_at=ends_at,
        starts_at=starts_at,
    ).parsed
