from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.approve_request import ApproveRequest
from ...models.close_run_detail import CloseRunDetail
from ...types import UNSET, Response, Unset


def _request(
    run: str,
    *,
    body: ApproveRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/close-runs/{run}/approve".format(
            run=quote(str(run), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
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
    body: ApproveRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[CloseRunDetail]:
    """Approve the drafts of a close run.

    Begin to approve all drafts of the run; `action` shows how far it is.

    An invoice that cannot be approved is among the `failures` of the action, and the others go
    on. The request is refused (409) while another action on the run has not ended, or without a
    draft.

    Args:
        run (str):
        idempotency_key (str | Unset):
        body (ApproveRequest | Unset): An optional reason for the approval, which the audit
            log shows.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            run=run,
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
    run: str,
    *,
    client: AuthenticatedClient,
    body: ApproveRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> CloseRunDetail:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        run=run,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
