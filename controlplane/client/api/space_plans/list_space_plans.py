from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.list_space_plans_sort import (
    ListSpacePlansSort,
)
from ...models.list_space_plans_space_type import (
    ListSpacePlansSpaceType,
)
from ...models.space_offer_page import SpaceOfferPage
from ...types import UNSET, Response, Unset


def _request(
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListSpacePlansSort | Unset = UNSET,
    space_type: ListSpacePlansSpaceType | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    json_space_type: str | Unset = UNSET
    if not isinstance(space_type, Unset):
        json_space_type = space_type

    params["space_type"] = json_space_type

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/space-plans",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> SpaceOfferPage:
    if response.status_code == 200:
        response_200 = SpaceOfferPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListSpacePlansSort | Unset = UNSET,
    space_type: ListSpacePlansSpaceType | Unset = UNSET,
) -> Response[SpaceOfferPage]:
    """List space plans.

    Return the newest version of each offered space plan.

    Plans for space types that this installation cannot run are left out. No login is needed.

    Args:
        cursor (str | Unset):
        limit (int | Unset):
        sort (ListSpacePlansSort | Unset):
        space_type (ListSpacePlansSpaceType | Unset):

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
            space_type=space_type,
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
    sort: ListSpacePlansSort | Unset = UNSET,
    space_type: ListSpacePlansSpaceType | Unset = UNSET,
) -> SpaceOfferPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        cursor=cursor,
        limit=limit,
        sort=sort,
        space_type=space_type,
    ).parsed
