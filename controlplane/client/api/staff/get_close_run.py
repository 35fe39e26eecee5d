from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.close_run_detail import CloseRunDetail
from ...types import Response


def _request(
    run: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/close-runs/{run}".format(
            run=quote(str(run), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> CloseRunDetail:
    if response.status_code == 200:
        response_200 = CloseRunDetail.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    run: str,
    *,
    client: AuthenticatedClient,
) -> Response[CloseRunDetail]:
    """Get a close run.

    Return how far the run is, what its invoices add up to, and why some are held.

    Args:
        run (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            run=run,
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
    run: str,
    *,
    client: AuthenticatedClient,
) -> CloseRunDetail:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        run=run,
        client=client,
    ).parsed
