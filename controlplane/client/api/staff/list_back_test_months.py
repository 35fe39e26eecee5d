from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.back_test_month_page import BackTestMonthPage
from ...models.list_back_test_months_sort import (
    ListBackTestMonthsSort,
)
from ...types import UNSET, Response, Unset


def _request(
    back_test: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    plan: str | Unset = UNSET,
    sort: ListBackTestMonthsSort | Unset = UNSET,
    tenant: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    params["plan"] = plan

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params["tenant"] = tenant

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/back-tests/{back_test}/months".format(
            back_test=quote(str(back_test), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> BackTestMonthPage:
    if response.status_code == 200:
        response_200 = BackTestMonthPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    back_test: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    plan: str | Unset = UNSET,
    sort: ListBackTestMonthsSort | Unset = UNSET,
    tenant: str | Unset = UNSET,
) -> Response[BackTestMonthPage]:
    """List months of a back-test.

    Return each month of each tenant, by default those with the largest increase first.

    Args:
        back_test (str):
        cursor (str | Unset):
        limit (int | Unset):
        plan (str | Unset):
        sort (ListBackTestMonthsSort | Unset):
        tenant (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            back_test=back_test,
            cursor=cursor,
            limit=limit,
            plan=plan,
            sort=sort,
            tenant=tenant,
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
    back_test: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    plan: str | Unset = UNSET,
    sort: ListBackTestMonthsSort | Unset = UNSET,
    tenant: str | Unset = UNSET,
) -> BackTestMonthPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        back_test=back_test,
        client=client,
        cursor=cursor,
        limit=limit,
        plan=plan,
        sort=sort,
        tenant=tenant,
    ).parsed
