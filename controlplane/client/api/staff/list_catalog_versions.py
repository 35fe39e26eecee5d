from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.catalog_version_page import CatalogVersionPage
from ...models.list_catalog_versions_sort import (
    ListCatalogVersionsSort,
)
from ...types import UNSET, Response, Unset


def _request(
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListCatalogVersionsSort | Unset = UNSET,
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
        "url": "/api/v1/staff/catalog/versions",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> CatalogVersionPage:
    if response.status_code == 200:
        response_200 = CatalogVersionPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListCatalogVersionsSort | Unset = UNSET,
) -> Response[CatalogVersionPage]:
    """List catalog versions.

    Return all versions that were ever published.

    Args:
        cursor (str | Unset):
        limit (int | Unset):
        sort (ListCatalogVersionsSort | Unset):

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
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListCatalogVersionsSort | Unset = UNSET,
) -> CatalogVersionPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        cursor=cursor,
        limit=limit,
        sort=sort,
    ).parsed
