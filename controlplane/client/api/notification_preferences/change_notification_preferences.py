from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.choice_page import ChoicePage
from ...models.patched_choices_change_request import PatchedChoicesChangeRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: PatchedChoicesChangeRequest | Unset = UNSET,
    if_match: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "PATCH",
        "url": "/api/v1/tenants/{tenant}/notification-preferences/me".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> ChoicePage:
    if response.status_code == 200:
        response_200 = ChoicePage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: PatchedChoicesChangeRequest | Unset = UNSET,
    if_match: str,
) -> Response[ChoicePage]:
    """Change my notification preferences.

    Change the caller's own choices.

    Args:
        tenant (str):
        if_match (str):
        body (PatchedChoicesChangeRequest | Unset): Choices to change; kinds that are not
            named stay as they are.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            body=body,
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
    *,
    client: AuthenticatedClient,
    body: PatchedChoicesChangeRequest | Unset = UNSET,
    if_match: str,
) -> ChoicePage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed
