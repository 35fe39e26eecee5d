from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.simulation import Simulation
from ...models.spend_cap_change_request import SpendCapChangeRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: SpendCapChangeRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/tenants/{tenant}/spend-cap/simulation".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Simulation:
    if response.status_code == 200:
        response_200 = Simulation.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: SpendCapChangeRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[Simulation]:
    """Simulate a spend cap.

    Return when the cap would have acted last month, and what it would have stopped.

    Nothing is saved. The month is priced on the present plan.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (SpendCapChangeRequest): A cap in minor units of the plan's currency, tax
            included, and what it does.

            The month's fee counts from its first day.

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
    body: SpendCapChangeRequest,
    idempotency_key: str | Unset = UNSET,
) -> Simulation:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
