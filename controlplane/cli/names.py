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

_MOST = 200  # names that the shell gets; a longer list helps nobody
_SPACE = ("space", "name")  # how the commands call the parameter that names a space


def _completion(
    operation: Callable[..., Response[Any]], field: str, *, in_space: bool = True
) -> Callable[..., list[str]]:
    """Return a completion of typer: the values of ``field`` in the list of ``operation``.

    ``operation`` is a function of the generated client. With ``in_space`` its list belongs to the
    space that the command line names, else to the tenant.
    """

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        found: list[str] = []
        with suppress(WaypostError, OSError):
            # No command runs during a completion, so the callback of ``app`` has chosen no context.
            login_store.choose(str(ctx.find_root().params.get("context") or ""))
            # No patience: a shell that waits for a server that is away looks frozen.
            api, tenant = login_store.connect(ctx.params.get("tenant"), patience_seconds=0)
            parents = [tenant]
            if in_space:
                space = next((ctx.params[name] for name in _SPACE if ctx.params.get(name)), None)
                parents.append(calls.named(space) if space else "-")  # no space has this name
            page = partial(operation, *parents, client=api.client, limit=_MOST)
            for row in calls.rows(api, page):
                if str(row[field]).startswith(incomplete):
                    found.append(str(row[field]))
                if len(found) == _MOST:
                    break
        return found

    return complete


SpaceName = Annotated[
    str,
    typer.Argument(
        autocompletion=_completion(address_spaces.list_spaces.sync_detailed, "name", in_space=False)
    ),
]
AddressName = Annotated[
    str,
    typer.Argument(
        autocompletion=_completion(address_spaces.list_addresses.sync_detailed, "address")
    ),
]
UserName = Annotated[
    str,
    typer.Argument(
        autocompletion=_completion(address_spaces.list_messaging_users.sync_detailed, "name")
    ),
]
