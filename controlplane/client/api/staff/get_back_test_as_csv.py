from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...types import Response


def _request(
    back_test: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/back-tests/{back_test}.csv".format(
            back_test=quote(str(back_test), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> str:
    if response.status_code == 200:
        response_200 = response.text
        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    back_test: str,
    *,
    client: AuthenticatedClient,
) -> Response[str]:
    """Get a back-test as CSV.

    Return each month of each tenant as a row; amounts are in minor units.

    Args:
        back_test (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            back_test=back_test,
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
    back_test: str,
    *,
    client: AuthenticatedClient,
) -> str:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        back_test=back_test,
        client=client,
    ).parsed
