from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.catalog_draft_detail import CatalogDraftDetail
from ...types import UNSET, Response, Unset


def _request(
    draft: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/catalog/drafts/{draft}/cancel".format(
            draft=quote(str(draft), safe=""),
        ),
    }
    _kwargs["headers"] = headers
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
    idempotency_key: str | Unset = UNSET,
) -> Response[CatalogDraftDetail]:
    """Cancel a catalog draft.

    Cancel a draft. A published one is refused (409).

    A tenant whose subscription was to move because of the draft gets an event.

    Args:
        draft (str):
        idempotency_key (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            draft=draft,
            idempotency_key=idempotency_key,
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
    idempotency_key: str | Unset = UNSET,
) -> CatalogDraftDetail:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        draft=draft,
        client=client,
        idempotency_key=idempotency_key,
    ).parsed
