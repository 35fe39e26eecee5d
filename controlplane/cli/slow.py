"""Do a slow change over the API: ask, follow the operation, tell how it ended."""

from collections.abc import Callable

from controlplane.cli import output
from controlplane.cli.output import Format
from controlplane.rest_client import Api, Json


def follow(
    api: Api, tenant: str, title: str, ask: Callable[[], Json], form: Format, *, wait: bool = True
) -> None:
    """Send the request, show the operation's progress until it ends, and print it.

    Raises:
        WaypostError: the request was refused, or the operation failed or is slow.
    """
    operation = ask()
    if wait:
        with output.progress(title) as progress:
            operation = api.wait(tenant, operation, progress=progress)
    if form is Format.JSON:
        output.show_json(operation)
    else:
        state = "done" if operation["state"] == "Succeeded" else "accepted"
        output.show_text(f"{title}: {state} ({operation['id']})")
