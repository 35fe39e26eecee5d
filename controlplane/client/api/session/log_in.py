from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.credentials_request import CredentialsRequest
from ...models.session import Session
from ...types import Response


def _request(
    *,
    body: CredentialsRequest,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/session",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Session:
    if response.status_code == 201:
        response_201 = Session.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: CredentialsRequest,
) -> Response[Session]:
    """Log in.

    Return a new token that acts for the person for twelve hours.

    A change of the password ends the token earlier. An account with a second factor needs
    `code`; without it the answer is 403, `login.second_factor_needed`.

    Args:
        body (CredentialsRequest): The email and the password of a local account, and a code
            if it has a second factor.

            `code` is the one that the authenticator app shows, or a recovery code.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            body=body,
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
    client: AuthenticatedClient | Client,
    body: CredentialsRequest,
) -> Session:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        body=body,
    ).parsed
