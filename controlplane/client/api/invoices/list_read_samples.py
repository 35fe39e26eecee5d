from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient
from ...models.list_read_samples_sort import (
    ListReadSamplesSort,
)
from ...models.sample_page import SamplePage
from ...types import UNSET, Response, Unset


def _request(
    tenant: str,
    invoice: str,
    reading: str,
    *,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListReadSamplesSort | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["cursor"] = cursor

    params["limit"] = limit

    json_sort: str | Unset = UNSET
    if not isinstance(sort, Unset):
        json_sort = sort

    params["sort"] = json_sort

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "GET",
        "url": "/api/v1/tenants/{tenant}/invoices/{invoice}/sample-readings/{reading}/samples".format(
            tenant=quote(str(tenant), safe=""),
            invoice=quote(str(invoice), safe=""),
            reading=quote(str(reading), safe=""),
        ),
        "params": params,
    }
    return _kwargs


def _parsed(response: httpx.Response) -> SamplePage:
    if response.status_code == 200:
        response_200 = SamplePage.from_dict(response.json())

        return response_200

    raise errors.unexpected(response)


def sync_detailed(
    tenant: str,
    invoice: str,
    reading: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListReadSamplesSort | Unset = UNSET,
) -> Response[SamplePage]:
    """List read samples.

    Return the samples that the reading keeps, by source, incarnation and address.

    Args:
        tenant (str):
        invoice (str):
        reading (str):
        cursor (str | Unset):
        limit (int | Unset):
        sort (ListReadSamplesSort | Unset):

    Raises:
        errors.Refused: the server refused the request.
        errors.Unexpected: the answer is none that the API document lists.
        httpx.TransportError: the server did not answer.
    """
    response = client.get_httpx_client().request(
        **_request(
            tenant=tenant,
            invoice=invoice,
            reading=reading,
            cursor=cursor,
            limit=limit,
            sort=sort,
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
    invoice: str,
    reading: str,
    *,
    client: AuthenticatedClient,
    cursor: str | Unset = UNSET,
    limit: int | Unset = UNSET,
    sort: ListReadSamplesSort | Unset = UNSET,
) -> SamplePage:
    """As ``sync_detailed``, but return the body as a model."""
    return sync_detailed(
        tenant=tenant,
        invoice=invoice,
        reading=reading,
        client=client,
        cursor=cursor,
        limit=limit,
        sort=sort,
    ).parsed
