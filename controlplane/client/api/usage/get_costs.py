from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.costs import Costs
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    label: str | Unset = UNSET,
    month: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["label"] = label

    params["month"] = month

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/usage/costs".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Costs:
    if response.status_code == 200:
        response_200 = Costs.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    label: str | Unset = UNSET,
    month: str | Unset = UNSET,
) -> Response[Costs]:
    """Get costs.

    Return what the month costs before tax, by space or by the values of a label.

    A label that no space has divides by space. Months begin in the billing time zone.

    Args:
        tenant (str):
        label (str | Unset):
        month (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            label=label,
            month=month,
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
    label: str | Unset = UNSET,
    month: str | Unset = UNSET,
) -> Costs:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        label=label,
        month=month,
    ).parsed
