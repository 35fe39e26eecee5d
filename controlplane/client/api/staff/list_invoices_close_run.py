from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.close_run_invoice_page import CloseRunInvoicePage
from ...models.list_invoices_close_run_sort import (
    ListInvoicesCloseRunSort,
)
from ...models.list_invoices_close_run_state import (
    ListInvoicesCloseRunState,
)
from ...types import UNSET, Response, Unset


def _request(
    run: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListInvoicesCloseRunSort | Unset = UNSET,
    state: ListInvoicesCloseRunState | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

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
        "url": "/api/v1/staff/close-runs/{run}/invoices".format(
            run=quote(str(run), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> CloseRunInvoicePage:
    if response.status_code == 200:
        response_200 = CloseRunInvoicePage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    run: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListInvoicesCloseRunSort | Unset = UNSET,
    state: ListInvoicesCloseRunState | Unset = UNSET,
) -> Response[CloseRunInvoicePage]:
    """List the invoices of a close run.

    Return the invoices of the run, or those that the filters select.

    Args:
        run (str):
        cursor (str | Unset):
        limit (int | Unset):
        sort (ListInvoicesCloseRunSort | Unset):
        state (ListInvoicesCloseRunState | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            run=run,
            cursor=cursor,
            limit=limit,
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
    run: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListInvoicesCloseRunSort | Unset = UNSET,
    state: ListInvoicesCloseRunState | Unset = UNSET,
) -> CloseRunInvoicePage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        run=run,
        client=client,
        cursor=cursor,
        limit=limit,
        sort=sort,
        state=state,
    ).parsed
