from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.account_codes import AccountCodes
from ...types import Response


def _request(
    legal_entity: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/account-codes/{legal_entity}".format(
            legal_entity=quote(str(legal_entity), safe=""),
        ),
    }
    return _kwargs


def _parsed(response: httpx.Response) -> AccountCodes:
    if response.status_code == 200:
        response_200 = AccountCodes.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    legal_entity: str,
    *,
    client: AuthenticatedClient,
) -> Response[AccountCodes]:
    """Get account codes.

    Return the codes that were set for this legal entity; other accounts have their names.

    Args:
        legal_entity (str):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            legal_entity=legal_entity,
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
    legal_entity: str,
    *,
    client: AuthenticatedClient,
) -> AccountCodes:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        legal_entity=legal_entity,
        client=client,
    ).parsed
