from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.list_operations_sort import (
    ListOperationsSort,
)
from ...models.list_operations_state import (
    ListOperationsState,
)
from ...models.operation_page import OperationPage
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    cursor: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListOperationsSort | Unset = UNSET,
    state: ListOperationsState | Unset = UNSET,
    subject_id: str | Unset = UNSET,
    subject_name: str | Unset = UNSET,
    subject_type: str | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["kind"] = kind

    params["limit"] = limit

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    json_state: str | Unset = UNSET
    if not isinstance(state, Unset):
        json_state = state

    params["state"] = json_state

    params["subject_id"] = subject_id

    params["subject_name"] = subject_name

    params["subject_type"] = subject_type

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/operations".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> OperationPage:
    if response.status_code == 200:
        response_200 = OperationPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListOperationsSort | Unset = UNSET,
    state: ListOperationsState | Unset = UNSET,
    subject_id: str | Unset = UNSET,
    subject_name: str | Unset = UNSET,
    subject_type: str | Unset = UNSET,
) -> Response[OperationPage]:
    """List operations.

    Return running and ended operations of the tenant.

    Args:
        tenant (str):
        cursor (str | Unset):
        kind (str | Unset):
        limit (int | Unset):
        sort (ListOperationsSort | Unset):
        state (ListOperationsState | Unset):
        subject_id (str | Unset):
        subject_name (str | Unset):
        subject_type (str | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            cursor=cursor,
            kind=kind,
            limit=limit,
            sort=sort,
            state=state,
            subject_id=subject_id,
            subject_name=subject_name,
            subject_type=subject_type,
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
    cursor: str | Unset = UNSET,
    kind: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListOperationsSort | Unset = UNSET,
    state: ListOperationsState | Unset = UNSET,
    subject_id: str | Unset = UNSET,
    subject_name: str | Unset = UNSET,
    subject_type: str | Unset = UNSET,
) -> OperationPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        cursor=cursor,
        kind=kind,
        limit=limit,
        sort=sort,
        state=state,
        subject_id=subject_id,
        subject_name=subject_name,
        subject_type=subject_type,
    ).parsed
