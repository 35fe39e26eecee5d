from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.overridden import Overridden
from ...models.override_quota_if_none_match import (
    OverrideQuotaIfNoneMatch,
)
from ...models.override_request import OverrideRequest
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    resource: str,
    *,
    body: OverrideRequest,
    if_match: str | Unset = UNSET,
    if_none_match: OverrideQuotaIfNoneMatch | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(if_match, Unset):
        headers["If-Match"] = if_match

    if not isinstance(if_none_match, Unset):
        headers["If-None-Match"] = str(if_none_match)

    _kwargs: dict[str, Any] = {
        "method": "PUT",
        "url": "/api/v1/staff/tenants/{tenant}/quotas/{resource}".format(
            tenant=quote(str(tenant), safe=""),
            resource=quote(str(resource), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> Overridden:
    if response.status_code == 200:
        response_200 = Overridden.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    resource: str,
    *,
    client: AuthenticatedClient,
    body: OverrideRequest,
    if_match: str | Unset = UNSET,
    if_none_match: OverrideQuotaIfNoneMatch | Unset = UNSET,
) -> Response[Overridden]:
    """Override a quota.

    Set the tenant's limit of the resource in place of its plan's limit.

    Send `If-None-Match: *` to set the first override of the resource, and `If-Match` with its
    ETag, or `*`, to replace one. Workers then enforce the tenant's quotas at once.

    Args:
        tenant (str):
        resource (str):
        if_match (str | Unset):
        if_none_match (OverrideQuotaIfNoneMatch | Unset):
        body (OverrideRequest): A limit that replaces the plan's limit for one tenant. The
            audit log records the reason.

            Without `expires_at` it applies until it is removed.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            resource=resource,
            body=body,
            if_match=if_match,
            if_none_match=if_none_match,
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
    resource: str,
    *,
    client: AuthenticatedClient,
    body: OverrideRequest,
    if_match: str | Unset = UNSET,
    if_none_match: OverrideQuotaIfNoneMatch | Unset = UNSET,
) -> Overridden:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        resource=resource,
        client=client,
        body=body,
        if_match=if_match,
        if_none_match=if_none_match,
    ).parsed
