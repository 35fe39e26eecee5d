from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.catalog_publish_request import CatalogPublishRequest
from ...models.publication import Publication
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: CatalogPublishRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/catalog",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Publication:
    if response.status_code == 200:
        response_200 = Publication.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    body: CatalogPublishRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Publication]:
    """Publish a catalog.

    Publish or schedule the next version of the catalog, or only show it (`dry_run`).

    Publishing the same content as the newest version again makes no new version.

    Args:
        idempotency_key (str | Unset):
        body (CatalogPublishRequest): A catalog to publish, as YAML text. With `dry_run`
            nothing is published.

            With a later `effective_at` it is scheduled.

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
    body: CatalogPublishRequest,
    idempotency_key: str | Unset = UNSET,
) -> Publication:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
