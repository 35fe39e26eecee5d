from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.plan_choice_request import PlanChoiceRequest
from ...models.plan_subscription import PlanSubscription
from ...types import Response


def _request(
    tenant: str,
    *,
    body: PlanChoiceRequest,
    if_match: str,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    headers["If-Match"] = if_match

    _kwargs: dict[str, Any] = {
        "method": "PUT",
        "url": "/api/v1/tenants/{tenant}/plan-subscription".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> PlanSubscription:
    if response.status_code == 200:
        response_200 = PlanSubscription.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: PlanChoiceRequest,
    if_match: str,
) -> Response[PlanSubscription]:
    """Change the plan.

    End the open subscription now and begin one to the newest version of the plan.

    The change is refused if the tenant uses more than the new plan allows. With `follows` and
    the present plan, only the choice changes, and the subscription keeps its version.

    Args:
        tenant (str):
        if_match (str):
        body (PlanChoiceRequest): The key of the plan to subscribe to.

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            body=body,
            if_match=if_match,
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
    body: PlanChoiceRequest,
    if_match: str,
) -> PlanSubscription:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        if_match=if_match,
    ).parsed
