from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.alarm_page import AlarmPage
from ...models.list_alarms_metric import ListAlarmsMetric
from ...models.list_alarms_sort import ListAlarmsSort
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    *,
    address: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    is_raised: bool | Unset = UNSET,
    limit: int | Unset = UNSET,
    metric: ListAlarmsMetric | Unset = UNSET,
    sort: ListAlarmsSort | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["address"] = address

    params["cursor"] = cursor

    params["is_raised"] = is_raised

    params["limit"] = limit

    json_metric: str | Unset = UNSET
    if not isinstance(metric, Unset):
        json_metric = metric

    params["metric"] = json_metric

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/alarms".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> AlarmPage:
    if response.status_code == 200:
        response_200 = AlarmPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    *,
    client: AuthenticatedClient,
    address: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    is_raised: bool | Unset = UNSET,
    limit: int | Unset = UNSET,
    metric: ListAlarmsMetric | Unset = UNSET,
    sort: ListAlarmsSort | Unset = UNSET,
) -> Response[AlarmPage]:
    """List alarms.

    Return the alarms of the space's addresses.

    Args:
        tenant (str):
        space (str):
        address (str | Unset):
        cursor (str | Unset):
        is_raised (bool | Unset):
        limit (int | Unset):
        metric (ListAlarmsMetric | Unset):
        sort (ListAlarmsSort | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            address=address,
            cursor=cursor,
            is_raised=is_raised,
            limit=limit,
            metric=metric,
            sort=sort,
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
    *,
    client: AuthenticatedClient,
    address: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    is_raised: bool | Unset = UNSET,
    limit: int | Unset = UNSET,
    metric: ListAlarmsMetric | Unset = UNSET,
    sort: ListAlarmsSort | Unset = UNSET,
) -> AlarmPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        client=client,
        address=address,
        cursor=cursor,
        is_raised=is_raised,
        limit=limit,
        metric=metric,
        sort=sort,
    ).parsed
