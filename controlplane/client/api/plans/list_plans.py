from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.list_plans_sort import ListPlansSort
from ...models.offer_page import OfferPage
from ...types import UNSET, Response, Unset


def _request(
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListPlansSort | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/plans",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> OfferPage:
    if response.status_code == 200:
        response_200 = OfferPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListPlansSort | Unset = UNSET,
) -> Response[OfferPage]:
    """List plans.

    Return the newest version of each offered plan. No login is needed.

    Args:
        cursor (str | Unset):
        limit (int | Unset):
        sort (ListPlansSort | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            cursor=cursor,
            limit=limit,
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
    client: AuthenticatedClient | Client,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListPlansSort | Unset = UNSET,
) -> OfferPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        cursor=cursor,
        limit=limit,
        sort=sort,
    ).parsed
