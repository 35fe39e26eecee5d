from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.back_test import BackTest
from ...models.back_test_create_request import BackTestCreateRequest
from ...types import UNSET, Response, Unset


def _request(
    draft: str,
    *,
    body: BackTestCreateRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/catalog/drafts/{draft}/back-tests".format(
            draft=quote(str(draft), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> BackTest:
    if response.status_code == 202:
        response_202 = BackTest.from_dict(response.json())

        return response_202

    raise errors.unexpected(response)


def sync_detailed(
    draft: str,
    *,
    client: AuthenticatedClient,
    body: BackTestCreateRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[BackTest]:
    """Request a back-test.

    Rate ended months of all tenants under the draft; poll the back-test for its progress.

    Args:
        draft (str):
        idempotency_key (str | Unset):
        body (BackTestCreateRequest | Unset): How many ended billing months to rate, and
            where their `usage` is read.

            `copy` is the copy of usage in the database, which is quick for one month.
            `lakehouse` sums gold
            by Spark and stores the result in the table `gold.backtest`, too.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            draft=draft,
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
    draft: str,
    *,
    client: AuthenticatedClient,
    body: BackTestCreateRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> BackTest:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        draft=draft,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
