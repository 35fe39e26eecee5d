from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.rollout import Rollout
from ...models.steer_request import SteerRequest
from ...types import UNSET, Response, Unset


def _request(
    verb: str,
    *,
    body: SteerRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/rollout/{verb}".format(
            verb=quote(str(verb), safe=""),
        ),
    }

    if not isinstance(body, Unset):
        _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Rollout:
    if response.status_code == 200:
        response_200 = Rollout.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    verb: str,
    *,
    client: AuthenticatedClient,
    body: SteerRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Response[Rollout]:
    """Steer the rollout.

    Pause, resume or roll back the latest rollout, as `verb` says; return it or the new one.

    `pause` changes no further space. `resume` continues a paused or stopped rollout, and failed
    spaces get another attempt. `roll-back` begins a new rollout to the former release. A state
    that does not allow the command is a 409.

    Args:
        verb (str):
        idempotency_key (str | Unset):
        body (SteerRequest | Unset): An optional reason for the command, which the audit log
            and the rollout show.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            verb=verb,
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
    verb: str,
    *,
    client: AuthenticatedClient,
    body: SteerRequest | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Rollout:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        verb=verb,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
