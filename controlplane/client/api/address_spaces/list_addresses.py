from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.address_page import AddressPage
from ...models.list_addresses_phase import (
    ListAddressesPhase,
)
from ...models.list_addresses_sort import ListAddressesSort
from ...models.list_addresses_type import ListAddressesType
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    *,
    cursor: str | Unset = UNSET,
    label: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    phase: ListAddressesPhase | Unset = UNSET,
    plan: str | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListAddressesSort | Unset = UNSET,
    type_: ListAddressesType | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["label"] = label

    params["limit"] = limit

    json_phase: str | Unset = UNSET
    if not isinstance(phase, Unset):
        json_phase = phase

    params["phase"] = json_phase

    params["plan"] = plan

    params["search"] = search

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    json_type_: str | Unset = UNSET
    if not isinstance(type_, Unset):
        json_type_ = type_

    params["type"] = json_type_

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}/addresses".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> AddressPage:
    if response.status_code == 200:
        response_200 = AddressPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    label: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    phase: ListAddressesPhase | Unset = UNSET,
    plan: str | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListAddressesSort | Unset = UNSET,
    type_: ListAddressesType | Unset = UNSET,
) -> Response[AddressPage]:
    """List addresses.

    Return the addresses of the space that are not deleted.

    Args:
        tenant (str):
        space (str):
        cursor (str | Unset):
        label (str | Unset):
        limit (int | Unset):
        phase (ListAddressesPhase | Unset):
        plan (str | Unset):
        search (str | Unset):
        sort (ListAddressesSort | Unset):
        type_ (ListAddressesType | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            cursor=cursor,
            label=label,
            limit=limit,
            phase=phase,
            plan=plan,
            search=search,
            sort=sort,
            type_=type_,
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
    cursor: str | Unset = UNSET,
    label: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    phase: ListAddressesPhase | Unset = UNSET,
    plan: str | Unset = UNSET,
    search: str | Unset = UNSET,
    sort: ListAddressesSort | Unset = UNSET,
    type_: ListAddressesType | Unset = UNSET,
) -> AddressPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        client=client,
        cursor=cursor,
        label=label,
        limit=limit,
        phase=phase,
        plan=plan,
        search=search,
        sort=sort,
        type_=type_,
    ).parsed
