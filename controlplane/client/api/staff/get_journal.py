from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.journal import Journal
from ...types import UNSET, Response, Unset


def _request(
    *,
    after: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["after"] = after

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/journal",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Journal:
    if response.status_code == 200:
        response_200 = Journal.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    after: int | Unset = UNSET,
) -> Response[Journal]:
    """Get the journal.

    Return up to 10,000 journal lines after a posting, whole entries only.

    No later answer has a line below `last_posting_id`, so each line is imported once.

    Args:
        after (int | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            after=after,
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
    after: int | Unset = UNSET,
) -> Journal:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        after=after,
    ).parsed
