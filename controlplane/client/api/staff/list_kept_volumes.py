from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.kept_volumes_page import KeptVolumesPage
from ...models.list_kept_volumes_sort import (
    ListKeptVolumesSort,
)
from ...types import UNSET, Response, Unset


def _request(
    *,
    cursor: str | Unset = UNSET,
    is_waiting: bool | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListKeptVolumesSort | Unset = UNSET,
    tenant_id: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["is_waiting"] = is_waiting

    params["limit"] = limit

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params["tenant_id"] = tenant_id

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/kept-volumes",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> KeptVolumesPage:
    if response.status_code == 200:
        response_200 = KeptVolumesPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    is_waiting: bool | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListKeptVolumesSort | Unset = UNSET,
    tenant_id: str | Unset = UNSET,
) -> Response[KeptVolumesPage]:
    """List kept volumes.

    Return one item per space whose volumes were kept.

    Volumes that are released or deleted stay in the list.

    Args:
        cursor (str | Unset):
        is_waiting (bool | Unset):
        limit (int | Unset):
        sort (ListKeptVolumesSort | Unset):
        tenant_id (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            cursor=cursor,
            is_waiting=is_waiting,
            limit=limit,
            sort=sort,
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
    is_waiting: bool | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListKeptVolumesSort | Unset = UNSET,
    tenant_id: str | Unset = UNSET,
) -> KeptVolumesPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        cursor=cursor,
        is_waiting=is_waiting,
        limit=limit,
        sort=sort,
        tenant_id=tenant_id,
    ).parsed
