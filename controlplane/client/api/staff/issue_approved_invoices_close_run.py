from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.close_run_detail import CloseRunDetail
from ...types import UNSET, Response, Unset


def _request(
    run: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/close-runs/{run}/issue".format(
            run=quote(str(run), safe=""),
        ),
    }
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> CloseRunDetail:
    if response.status_code == 202:
        response_202 = CloseRunDetail.from_dict(response.json())

        return response_202

    raise errors.unexpected(response)


def sync_detailed(
    run: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> Response[CloseRunDetail]:
    """Issue the approved invoices of a close run.

    Begin to issue all approved invoices of the run; `action` shows how far it is.

    Each gets the next number of its series. The request is refused (409) while another action
    on the run has not ended, or without an approved invoice.

    Args:
        run (str):
        idempotency_key (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            run=run,
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
    run: str,
    *,
    client: AuthenticatedClient,
    idempotency_key: str | Unset = UNSET,
) -> CloseRunDetail:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        run=run,
        client=client,
        idempotency_key=idempotency_key,
    ).parsed
