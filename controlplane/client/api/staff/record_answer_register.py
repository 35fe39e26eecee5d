from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.register_answer_request import RegisterAnswerRequest
from ...models.staff_tax_id_check import StaffTaxIdCheck
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    *,
    body: RegisterAnswerRequest,
    idempotency_key: str | Unset = UNSET,
) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not isinstance(idempotency_key, Unset):
        headers["Idempotency-Key"] = idempotency_key

    _kwargs: dict[str, Any] = {
        "method": "POST",
        "url": "/api/v1/staff/tenants/{tenant}/tax-id-answers".format(
            tenant=quote(str(tenant), safe=""),
        ),
    }
    _kwargs["json"] = body.to_dict()

    headers["Content-Type"] = "application/json"
    _kwargs["headers"] = headers
    return _kwargs


def _parsed(response: httpx.Response) -> StaffTaxIdCheck:
    if response.status_code == 201:
        response_201 = StaffTaxIdCheck.from_dict(response.json())

        return response_201

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    *,
    client: AuthenticatedClient,
    body: RegisterAnswerRequest,
    idempotency_key: str | Unset = UNSET,
) -> Response[StaffTaxIdCheck]:
    """Record an answer of the register.

    Record the answer. If the register does not know the id, later invoices charge VAT.

    Args:
        tenant (str):
        idempotency_key (str | Unset):
        body (RegisterAnswerRequest): What the register of VAT ids answered; `reference`
            identifies the answer.

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
    body: RegisterAnswerRequest,
    idempotency_key: str | Unset = UNSET,
) -> StaffTaxIdCheck:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        client=client,
        body=body,
        idempotency_key=idempotency_key,
    ).parsed
