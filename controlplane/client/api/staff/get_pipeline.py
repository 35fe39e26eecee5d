from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.pipeline import Pipeline
from ...types import Response


def _request() -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/pipeline",
    }
    return _kwargs


def _parsed(response: httpx.Response) -> Pipeline:
    if response.status_code == 200:
        response_200 = Pipeline.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
) -> Response[Pipeline]:
    """Get the pipeline.

    Return how old usage is, what waits to land, and the newest runs.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(**_request())
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
) -> Pipeline:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
    ).parsed
