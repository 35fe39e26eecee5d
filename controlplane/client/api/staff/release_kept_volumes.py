from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.kept_volumes import KeptVolumes
from ...types import UNSET, Response, Unset


def _request(
    space: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/kept-volumes/{space}/release".format(
            space=quote(str(space), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> KeptVolumes:
    if response.status_code == 200:
        response_200 = KeptVolumes.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    space: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Response[KeptVolumes]:
    """Release kept volumes.

    Release the volumes of a deleted space: a worker deletes them with all messages in them.

    `space` is the id of the space, whose deletion must be complete. Releasing again changes
    nothing.

    Args:
        space (str):
        idempotency_key (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            space=space,
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
    space: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> KeptVolumes:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        space=space,
        client=client,
        idempotency_key=idempotency_key,
    ).parsed
