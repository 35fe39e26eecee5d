from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.list_payment_events_sort import (
    ListPaymentEventsSort,
)
from ...models.list_payment_events_state import (
    ListPaymentEventsState,
)
from ...models.payment_event_page import PaymentEventPage
from ...types import UNSET, Response, Unset


def _request(
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    provider: str | Unset = UNSET,
    sort: ListPaymentEventsSort | Unset = UNSET,
    state: ListPaymentEventsState | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    params["provider"] = provider

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state

    params["state"] = json_state

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/staff/payment-events",
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> PaymentEventPage:
    if response.status_code == 200:
        response_200 = PaymentEventPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    provider: str | Unset = UNSET,
    sort: ListPaymentEventsSort | Unset = UNSET,
    state: ListPaymentEventsState | Unset = UNSET,
) -> Response[PaymentEventPage]:
    """List payment events.

    Return what providers reported. Refused events need a look by staff.

    Args:
        cursor (str | Unset):
        limit (int | Unset):
        provider (str | Unset):
        sort (ListPaymentEventsSort | Unset):
        state (ListPaymentEventsState | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            cursor=cursor,
            limit=limit,
            provider=provider,
            sort=sort,
            state=state,
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
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    provider: str | Unset = UNSET,
    sort: ListPaymentEventsSort | Unset = UNSET,
    state: ListPaymentEventsState | Unset = UNSET,
) -> PaymentEventPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        client=client,
        cursor=cursor,
        limit=limit,
        provider=provider,
        sort=sort,
        state=state,
    ).parsed
