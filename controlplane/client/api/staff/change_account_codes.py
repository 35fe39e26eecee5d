from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.account_codes import AccountCodes
from ...models.account_codes_request import AccountCodesRequest
from ...types import UNSET, Response, Unset


def _request(
    legal_entity: str,
    *,
    body: AccountCodesRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/account-codes/{legal_entity}".format(
            legal_entity=quote(str(legal_entity), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
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
    body: AccountCodesRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[AccountCodes]:
    """Change account codes.

    Set the codes in the request and keep all others; an empty code removes one.

    Lines that were exported already keep the code that they had.

    Args:
        legal_entity (str):
        idempotency_key (str | Unset):
        body (AccountCodesRequest): Codes by account, or by group: the part before the
            colon, such as `revenue`.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            legal_entity=legal_entity,
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
    legal_entity: str,
    *,
    client: AuthenticatedClient,
    body: AccountCodesRequest,
    idempotency_key: str | Unset = UNSET,
) -> AccountCodes:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        legal_entity=legal_entity,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
