"""Arguments that name something of a tenant, which the shell completes from the API.

A completion never fails and asks nothing: without a login or an answer it offers no names.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

import typer

from controlplane.cli import calls, login_store
from controlplane.client.api import address_spaces
from controlplane.client.types import Response
from controlplane.core.errors import WaypostError
from controlplane.rest_client import Api

_MOST = 200  # names that the shell gets; a longer list helps nobody
# Gets the API client, a tenant and a space; returns the function that reads a page of a list.
Page = Callable[[Api, str, str], Callable[..., Response[Any]]]
_SPACE = ("space", "name")  # how the commands call the parameter that names a space


def _completion(page: Page, field: str) -> Callable[..., list[str]]:
    """Return a completion of typer: the values of ``field`` in the list that ``page`` reads."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        found: list[str] = []
        with suppress(WaypostError, OSError):
            login_store.choose(str(ctx.find_root().params.get("context") or ""))
            api, tenant = login_store.connect(ctx.params.get("tenant"), patience_seconds=0)
            read = page(api, tenant, _space_of(ctx.params))
            for row in calls.rows(api, partial(read, limit=_MOST)):
                if str(row[field]).startswith(incomplete):
                    found.append(str(row[field]))
                if len(found) == _MOST:
                    break
        return found

    return complete


def _space_of(given: dict[str, Any]) -> str:
    found = next((given[name] for name in _SPACE if given.get(name)), None)
    return calls.named(found) if found else "-"  # no space has this name


def _spaces(api: Api, tenant: str, _space: str) -> Callable[..., Response[Any]]:
    return partial(address_spaces.list_spaces.sync_detailed, tenant, client=api.client)


def _addresses(api: Api, tenant: str, space: str) -> Callable[..., Response[Any]]:
    return partial(address_spaces.list_addresses.sync_detailed, tenant, space, client=api.client)


def _users(api: Api, tenant: str, space: str) -> Callable[..., Response[Any]]:
    return partial(
        address_spaces.list_messaging_users.sync_detailed, tenant, space, client=api.client
    )


SpaceName = Annotated[str, typer.Argument(autocompletion=_completion(_spaces, "name"))]
AddressName = Annotated[str, typer.Argument(autocompletion=_completion(_addresses, "address"))]
UserName = Annotated[str, typer.Argument(autocompletion=_completion(_users, "name"))]
