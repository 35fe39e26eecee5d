from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.set_spend_cap_if_none_match import (
    SetSpendCapIfNoneMatch,
)
from ...models.spend_cap import SpendCap
from ...models.spend_cap_change_request import SpendCapChangeRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: SpendCapChangeRequest,
    if_match: str | Unset = UNSET,
    if_none_match: SetSpendCapIfNoneMatch | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = str(if_none_match)

    _kwargs: dict[str, Any] = {
        "method": "PUT",
        "url": "/api/v1/tenants/{tenant}/spend-cap".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> SpendCap:
    if response.status_code == 200:
        response_200 = SpendCap.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: SpendCapChangeRequest,
    if_match: str | Unset = UNSET,
    if_none_match: SetSpendCapIfNoneMatch | Unset = UNSET,
) -> Response[SpendCap]:
    """Set the spend cap.

    Set the cap, in place of an earlier one. A cap that is reached acts within a minute.

    Send `If-None-Match: *` to set the first cap, and `If-Match` with its ETag, or `*`, to
    replace one.

    Args:
        tenant (str):
        if_match (str | Unset):
        if_none_match (SetSpendCapIfNoneMatch | Unset):
        body (SpendCapChangeRequest): A cap in minor units of the plan's currency, tax
            included, and what it does.

            The month's fee counts from its first day.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            body=body,
            if_match=if_match,
            if_none_match=if_none_match,
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
    body: SpendCapChangeRequest,
    if_match: str | Unset = UNSET,
    if_none_match: SetSpendCapIfNoneMatch | Unset = UNSET,
) -> SpendCap:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    ).parsed
