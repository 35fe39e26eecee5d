from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.catalog_draft_detail import CatalogDraftDetail
from ...models.draft_create_request import DraftCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: DraftCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/catalog/drafts",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> CatalogDraftDetail:
    if response.status_code == 201:
        response_201 = CatalogDraftDetail.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: DraftCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[CatalogDraftDetail]:
    """Prepare a catalog.

    Store a catalog as a draft; nothing is published. Mistakes are listed by line.

    Args:
        idempotency_key (str | Unset):
        body (DraftCreateRequest): A catalog to prepare, as YAML text, with a note for other
            staff.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            body=body,
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
    *,
    client: AuthenticatedClient,
    body: DraftCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> CatalogDraftDetail:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
