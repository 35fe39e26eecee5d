from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.invitation import Invitation
from ...models.invitation_create_request import InvitationCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: InvitationCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants/{tenant}/invitations".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Invitation:
    if response.status_code == 201:
        response_201 = Invitation.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: InvitationCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Invitation]:
    """Invite a person.

    Send a mail with a link that works once, for seven days.

    The role must not have permissions that you lack. The answer does not say whether the
    address has an account.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (InvitationCreateRequest): A person to invite: an email address, with or
            without an account, and a role.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
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
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: InvitationCreateRequest,
    idempotency_key: str | Unset = UNSET,
) -> Invitation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
