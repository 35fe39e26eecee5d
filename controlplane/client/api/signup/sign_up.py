from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.signed_up import SignedUp
from ...models.signup_request import SignupRequest
from ...types import UNSET, Response, Unset


def _request(
    *,
    body: SignupRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/signup",
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> SignedUp:
    if response.status_code == 201:
        response_201 = SignedUp.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient | Client,
    body: SignupRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[SignedUp]:
    """Sign up.

    Create an account of a person, a tenant that the person owns, and its plan subscription.

    The answer has a token that acts for the person for twelve hours. Where email addresses must
    be confirmed, the answer has no token, and it is the same for an address that has an account
    already: open the link in the mail, then log in.

    Args:
        idempotency_key (str | Unset):
        body (SignupRequest): A new customer: the account of a person, and a tenant for the
            organization.

            An empty or absent `plan` chooses the plan with the lowest monthly fee. Without
            `legal_entity`
            and `currency` the main seller sells to the tenant, in its main currency.

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
    client: AuthenticatedClient | Client,
    body: SignupRequest,
    idempotency_key: str | Unset = UNSET,
) -> SignedUp:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
