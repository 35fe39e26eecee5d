from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.delete_space_volumes import (
    DeleteSpaceVolumes,
)
from ...models.operation import Operation
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    space: str,
    *,
    volumes: DeleteSpaceVolumes | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    params: dict[str, Any] = {}

    json_volumes: str | Unset = UNSET
    if not isinstance(volumes, Unset):
        json_volumes = volumes

    params["volumes"] = json_volumes

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "DELETE",
        "url": "/api/v1/tenants/{tenant}/address-spaces/{space}".format(
            tenant=quote(str(tenant), safe=""),
            space=quote(str(space), safe=""),
        ),
        "params": params,
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Operation:
    if response.status_code == 202:
        response_202 = Operation.from_dict(response.json())

        return response_202

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    space: str,
    *,
    client: AuthenticatedClient,
    volumes: DeleteSpaceVolumes | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Response[Operation]:
    """Delete a space.

    Begin to delete the space with all its addresses, users and stored messages.

    `volumes=keep` keeps the messages. A repeated request returns the first operation and
    ignores `volumes`. The past usage of the space is still billed.

    Args:
        tenant (str):
        space (str):
        volumes (DeleteSpaceVolumes | Unset):
        if_match (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            space=space,
            volumes=volumes,
            if_match=if_match,
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
    volumes: DeleteSpaceVolumes | Unset = UNSET,
    if_match: str | Unset = UNSET,
) -> Operation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        space=space,
        client=client,
        volumes=volumes,
        if_match=if_match,
    ).parsed
