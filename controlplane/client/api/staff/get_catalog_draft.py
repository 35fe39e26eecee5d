from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.catalog_draft_detail import CatalogDraftDetail
from ...types import Response


def _request(
    draft: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/catalog/drafts/{draft}".format(
            draft=quote(str(draft), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> CatalogDraftDetail:
    if response.status_code == 200:
        response_200 = CatalogDraftDetail.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    draft: str,
    *,
    client: AuthenticatedClient,
) -> Response[CatalogDraftDetail]:
    """Get a catalog draft.

    Return the draft of this id, with what it changes of the catalog in force.

    Args:
        draft (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            draft=draft,
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
    draft: str,
    *,
    client: AuthenticatedClient,
) -> CatalogDraftDetail:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        draft=draft,
        client=client,
    ).parsed
