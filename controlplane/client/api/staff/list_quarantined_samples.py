from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.list_quarantined_samples_reason import (
    ListQuarantinedSamplesReason,
)
from ...models.list_quarantined_samples_sort import (
    ListQuarantinedSamplesSort,
)
from ...models.quarantined_sample_page import QuarantinedSamplePage
from ...types import UNSET, Response, Unset


def _request(
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    reason: ListQuarantinedSamplesReason | Unset = UNSET,
    sort: ListQuarantinedSamplesSort | Unset = UNSET,
    space_id: str | Unset = UNSET,
    tenant_id: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    json_reason: str | Unset = UNSET
    if not isinstance(reason, Unset):
        json_reason = reason

    params["reason"] = json_reason

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params["space_id"] = space_id

    params["tenant_id"] = tenant_id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/pipeline/quarantine",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> QuarantinedSamplePage:
    if response.status_code == 200:
        response_200 = QuarantinedSamplePage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    reason: ListQuarantinedSamplesReason | Unset = UNSET,
    sort: ListQuarantinedSamplesSort | Unset = UNSET,
    space_id: str | Unset = UNSET,
    tenant_id: str | Unset = UNSET,
) -> Response[QuarantinedSamplePage]:
    """List quarantined samples.

    Return the newest 1,000 quarantined samples; all are in `bronze.quarantine`.

    Args:
        cursor (str | Unset):
        limit (int | Unset):
        reason (ListQuarantinedSamplesReason | Unset):
        sort (ListQuarantinedSamplesSort | Unset):
        space_id (str | Unset):
        tenant_id (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            cursor=cursor,
            limit=limit,
            reason=reason,
            sort=sort,
            space_id=space_id,
            tenant_id=tenant_id,
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
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    reason: ListQuarantinedSamplesReason | Unset = UNSET,
    sort: ListQuarantinedSamplesSort | Unset = UNSET,
    space_id: str | Unset = UNSET,
    tenant_id: str | Unset = UNSET,
) -> QuarantinedSamplePage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        cursor=cursor,
        limit=limit,
        reason=reason,
        sort=sort,
        space_id=space_id,
        tenant_id=tenant_id,
    ).parsed
