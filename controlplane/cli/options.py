"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Tenant = Annotated[
    str | None,
    typer.Option("--tenant", "-t", help="Short name of the tenant, else the login's."),
]
State = Annotated[
    Path | None,
    typer.Option("--state", help="The installation's folder.", envvar="WAYPOST_STATE_DIR"),
]
NoWait = Annotated[
    bool, typer.Option("--no-wait", help="Do not wait until it is done; print the operation.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
Reason = Annotated[str, typer.Option(help="Why, for the audit log.")]
Slug = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant's short name.")]
