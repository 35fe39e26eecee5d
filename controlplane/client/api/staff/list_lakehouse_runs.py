import datetime
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.lakehouse_run_page import LakehouseRunPage
from ...models.list_lakehouse_runs_job import (
    ListLakehouseRunsJob,
)
from ...models.list_lakehouse_runs_sort import (
    ListLakehouseRunsSort,
)
from ...types import UNSET, Response, Unset


def _request(
    *,
    cursor: str | Unset = UNSET,
    error_code: str | Unset = UNSET,
    job: ListLakehouseRunsJob | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListLakehouseRunsSort | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["error_code"] = error_code

    json_job: str | Unset = UNSET
    if not isinstance(job, Unset):
        json_job = job

    params["job"] = json_job

    params["limit"] = limit

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/pipeline/runs",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> LakehouseRunPage:
    if response.status_code == 200:
        response_200 = LakehouseRunPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    error_code: str | Unset = UNSET,
    job: ListLakehouseRunsJob | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListLakehouseRunsSort | Unset = UNSET,
) -> Response[LakehouseRunPage]:
    """List lakehouse runs.

    Return the runs of the last 40 days that ended; one that was killed is not among them.

    Args:
        cursor (str | Unset):
        error_code (str | Unset):
        job (ListLakehouseRunsJob | Unset):
        limit (int | Unset):
        since (datetime.datetime | Unset):
        sort (ListLakehouseRunsSort | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            cursor=cursor,
            error_code=error_code,
            job=job,
            limit=limit,
            since=since,
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
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    error_code: str | Unset = UNSET,
    job: ListLakehouseRunsJob | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListLakehouseRunsSort | Unset = UNSET,
) -> LakehouseRunPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        cursor=cursor,
        error_code=error_code,
        job=job,
        limit=limit,
        since=since,
        sort=sort,
    ).parsed
