"""`waypost tenant`: close a tenant, undo that, and download everything that is stored about it."""

import json
from pathlib import Path
from typing import Annotated

import typer

from controlplane.cli import calls, cells, login_store, output
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import closure, export
from controlplane.rest_client import Json

app = typer.Typer(no_args_is_help=True, help="The tenant itself: download, close, keep.")


@app.command()
def download(
    file: Annotated[Path, typer.Option("--to", help="Where to write the JSON document.")],
    tenant: Tenant = None,
) -> None:
    """Write everything that is stored about the tenant to a file, without secrets and messages."""
    api, slug = login_store.connect(tenant)
    with output.working("reading"):
        answer = export.export_tenant.sync_detailed(slug, client=api.client)
        document = calls.body(api, answer)
    # People read it too: names stay as they are written.
    text = json.dumps(document, indent=1, ensure_ascii=False)
    file.write_text(f"{text}\n", encoding="utf-8")
    output.say(f"wrote {file}")


@app.command()
def close(yes: Yes = False, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Request that the tenant is closed and, after some days, erased with all its messages."""
    api, slug = login_store.connect(tenant)
    if not yes:
        output.confirm(
            f"Close the tenant {slug}? Its programs can no longer send. After some days all its "
            "spaces and messages are deleted; an owner can undo it until then. Once every invoice "
            "is issued, its members are removed and its tokens are revoked."
        )
    answer = closure.close_tenant.sync_detailed(
        # The API wants the slug once more. Here the question has named it, or --yes was given.
        slug,
        client=api.client,
        body=models.ClosureRequestRequest(confirm=slug),
    )
    _show(calls.body(api, answer), form)


@app.command()
def keep(tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """Undo the request to close the tenant, while it is not erased."""
    api, slug = login_store.connect(tenant)
    answer = closure.keep_tenant.sync_detailed(slug, client=api.client)
    _show(calls.body(api, answer), form)


def _show(found: Json, form: Format) -> None:
    if form.is_document:
        output.show_document(found, form)
    elif found["erase_at"] is None:
        output.show_text("the tenant stays; sending works again in a moment")
    else:
        output.show_text(f"the tenant will be erased at {cells.instant(found['erase_at'])}")
