import datetime
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.audit_event_page import AuditEventPage
from ...models.list_audit_events_sort import (
    ListAuditEventsSort,
)
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    action: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListAuditEventsSort | Unset = UNSET,
    subject_id: str | Unset = UNSET,
    subject_name: str | Unset = UNSET,
    subject_type: str | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["action"] = action

    params["actor"] = actor

    params["cursor"] = cursor

    params["limit"] = limit

    json_since: str | Unset = UNSET
    if not isinstance(since, Unset):
        json_since = since.isoformat()
    params["since"] = json_since

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params["subject_id"] = subject_id

    params["subject_name"] = subject_name

    params["subject_type"] = subject_type

    json_until: str | Unset = UNSET
    if not isinstance(until, Unset):
        json_until = until.isoformat()
    params["until"] = json_until

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/audit-events".format(
            tenant=quote(str(tenant), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> AuditEventPage:
    if response.status_code == 200:
        response_200 = AuditEventPage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    action: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListAuditEventsSort | Unset = UNSET,
    subject_id: str | Unset = UNSET,
    subject_name: str | Unset = UNSET,
    subject_type: str | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> Response[AuditEventPage]:
    """List audit events.

    Return the audit events of the tenant.

    Args:
        tenant (str):
        action (str | Unset):
        actor (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):
        since (datetime.datetime | Unset):
        sort (ListAuditEventsSort | Unset):
        subject_id (str | Unset):
        subject_name (str | Unset):
        subject_type (str | Unset):
        until (datetime.datetime | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            action=action,
            actor=actor,
            cursor=cursor,
            limit=limit,
            since=since,
            sort=sort,
            subject_id=subject_id,
            subject_name=subject_name,
            subject_type=subject_type,
            until=until,
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
    action: str | Unset = UNSET,
    actor: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    sort: ListAuditEventsSort | Unset = UNSET,
    subject_id: str | Unset = UNSET,
    subject_name: str | Unset = UNSET,
    subject_type: str | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> AuditEventPage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        action=action,
        actor=actor,
        cursor=cursor,
        limit=limit,
        since=since,
        sort=sort,
        subject_id=subject_id,
        subject_name=subject_name,
        subject_type=subject_type,
        until=until,
    ).parsed
