from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.address_offer_page import AddressOfferPage
from ...models.list_address_plans_address_type import (
    ListAddressPlansAddressType,
)
from ...models.list_address_plans_sort import (
    ListAddressPlansSort,
)
from ...models.list_address_plans_space_type import (
    ListAddressPlansSpaceType,
)
from ...types import UNSET, Response, Unset


def _request(
    *,
    address_type: ListAddressPlansAddressType | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListAddressPlansSort | Unset = UNSET,
    space_type: ListAddressPlansSpaceType | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    json_address_type: str | Unset = UNSET
    if not isinstance(address_type, Unset):
        json_address_type = address_type

    params["address_type"] = json_address_type

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
        "url": "/api/v1/address-plans",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> AddressOfferPage:
    if response.status_code == 200:
        response_200 = AddressOfferPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    address_type: ListAddressPlansAddressType | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListAddressPlansSort | Unset = UNSET,
    space_type: ListAddressPlansSpaceType | Unset = UNSET,
) -> Response[AddressOfferPage]:
    """List address plans.

    Return the newest version of each offered address plan.

    Plans for space types that this installation cannot run are left out. No login is needed.

    Args:
        address_type (ListAddressPlansAddressType | Unset):
        cursor (str | Unset):
        limit (int | Unset):
        sort (ListAddressPlansSort | Unset):
        space_type (ListAddressPlansSpaceType | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            address_type=address_type,
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
    address_type: ListAddressPlansAddressType | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListAddressPlansSort | Unset = UNSET,
    space_type: ListAddressPlansSpaceType | Unset = UNSET,
) -> AddressOfferPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        address_type=address_type,
        cursor=cursor,
        limit=limit,
        sort=sort,
        space_type=space_type,
    ).parsed
