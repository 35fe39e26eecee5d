import datetime
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.get_usage_over_time_meter import (
    GetUsageOverTimeMeter,
)
from ...models.get_usage_over_time_step import (
    GetUsageOverTimeStep,
)
from ...models.series import Series
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    ends_at: datetime.datetime | Unset = UNSET,
    meter: GetUsageOverTimeMeter,
    space: str | Unset = UNSET,
    starts_at: datetime.datetime | Unset = UNSET,
    step: GetUsageOverTimeStep | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_ends_at: str | Unset = UNSET
    if not isinstance(ends_at, Unset):
        json_ends_at = ends_at.isoformat()
    params["ends_at"] = json_ends_at

    json_meter: str = meter
    params["meter"] = json_meter

    params["space"] = space

    json_starts_at: str | Unset = UNSET
    if not isinstance(starts_at, Unset):
        json_starts_at = starts_at.isoformat()
    params["starts_at"] = json_starts_at

    json_step: str | Unset = UNSET
    if not isinstance(step, Unset):
        json_step = step

    params["step"] = json_step

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/usage/series".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Series:
    if response.status_code == 200:
        response_200 = Series.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    ends_at: datetime.datetime | Unset = UNSET,
    meter: GetUsageOverTimeMeter,
    space: str | Unset = UNSET,
    starts_at: datetime.datetime | Unset = UNSET,
    step: GetUsageOverTimeStep | Unset = UNSET,
) -> Response[Series]:
    """Get usage over time.

    Return the usage of one meter in each step of the window, of all spaces or of one.

    A step is a full hour, or a day in the tenant's billing time zone.

    Args:
        tenant (str):
        ends_at (datetime.datetime | Unset):
        meter (GetUsageOverTimeMeter):
        space (str | Unset):
        starts_at (datetime.datetime | Unset):
        step (GetUsageOverTimeStep | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            ends_at=ends_at,
            meter=meter,
            space=space,
            starts_at=starts_at,
            step=step,
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
    *,
    client: AuthenticatedClient,
    ends_at: datetime.datetime | Unset = UNSET,
    meter: GetUsageOverTimeMeter,
    space: str | Unset = UNSET,
    starts_at: datetime.datetime | Unset = UNSET,
    step: GetUsageOverTimeStep | Unset = UNSET,
) -> Series:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        ends_at=ends_at,
        meter=meter,
        space=space,
        starts_at=starts_at,
        step=step,
    ).parsed
