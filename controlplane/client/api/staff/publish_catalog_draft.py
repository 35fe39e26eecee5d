from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.catalog_draft_detail import CatalogDraftDetail
from ...models.timing_request import TimingRequest
from ...types import UNSET, Response, Unset


def _request(
    draft: str,
    *,
    body: TimingRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/catalog/drafts/{draft}/publish".format(
            draft=quote(str(draft), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
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
    body: TimingRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[CatalogDraftDetail]:
    """Publish a catalog draft.

    Publish the draft now, or schedule it; refused (409) while another one is scheduled.

    Args:
        draft (str):
        idempotency_key (str | Unset):
        body (TimingRequest | Unset): When a catalog takes effect; at once without
            `effective_at`.

            Subscriptions that follow their plan move after the notice, at the beginning of a
            billing
            month, or with `at_period` false as soon as the notice permits.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            draft=draft,
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
    draft: str,
    *,
    client: AuthenticatedClient,
    body: TimingRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> CatalogDraftDetail:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        draft=draft,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
