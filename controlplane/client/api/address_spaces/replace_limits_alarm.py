from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.alarm import Alarm
from ...models.limits_request import LimitsRequest
from ...types import Response


def _request(
    tenant: str,
    space: str,
    alarm: str,
    *,
    body: LimitsRequest,
    if_match: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "PUT",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/alarms/{alarm}".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
            alarm=quote(str(alarm), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Alarm:
    if response.status_code == 200:
        response_200 = Alarm.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    alarm: str,
    *,
    client: AuthenticatedClient,
    body: LimitsRequest,
    if_match: str,
) -> Response[Alarm]:
    """Replace the limits of an alarm.

    Replace all limits. The next sampling cycle evaluates the alarm again.

    Args:
        tenant (str):
        space (str):
        alarm (str):
        if_match (str):
        body (LimitsRequest): The limits of an alarm. `clear_below` is 80 % of the threshold
            when it is absent or 0.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            alarm=alarm,
            body=body,
            if_match=if_match,
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
    space: str,
    alarm: str,
    *,
    client: AuthenticatedClient,
    body: LimitsRequest,
    if_match: str,
) -> Alarm:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        alarm=alarm,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed
