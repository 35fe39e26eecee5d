"""Labels of spaces and addresses on the command line: ``team=shop`` sets, ``team-`` removes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import typer

from controlplane.cli import calls, login_store, output
from controlplane.cli.options import Tenant
from controlplane.cli.output import Output
from controlplane.client.types import Response
from controlplane.core.errors import Invalid
from controlplane.rest_client import Api, Json

Labels = Annotated[
    list[str] | None, typer.Option("--label", help="A label such as team=shop; repeatable.")
]
Changes = Annotated[
    list[str], typer.Argument(help="KEY=VALUE sets a label, KEY- removes it; repeatable.")
]


def given(words: Sequence[str] | None) -> dict[str, dict[str, str]]:
    """Return {"labels": {key: value}} of the options ``--label``; {} without one.

    Raises:
        Invalid: ``labels.invalid``: a word is no label.
    """
    # An older server does not know the field.
    return {"labels": changed({}, words)} if words else {}


def changed(present: Mapping[str, str], words: Sequence[str]) -> dict[str, str]:
    """Return the labels ``present`` after the changes ``words``, in their order.

    Raises:
        Invalid: ``labels.invalid``: a word neither sets nor removes a label.
    """
    found = dict(present)
    for word in words:
        key, equals, value = word.partition("=")
        if equals and key:
            found[key] = value
        elif not equals and word.endswith("-") and len(word) > 1:
            # A label that is not there is no error, so the command can be repeated.
            found.pop(word[:-1], None)
        else:
            raise Invalid(
                f"{word!r} is no change of a label: KEY=VALUE sets it, KEY- removes it.",
                code="labels.invalid",
            )
    return found


def text(labels: Mapping[str, str]) -> str:
    """Return labels as people write them: ``env=prod team=shop``; ``-`` without any."""
    return " ".join(f"{key}={value}" for key, value in sorted(labels.items())) or "-"


def change(
    read: Callable[[Api, str], Response[Any]],
    write: Callable[[Api, str, dict[str, str], str], Response[Any]],
    words: Sequence[str],
    tenant: Tenant,
    form: Output,
) -> None:
    """Change the labels of a space or address, and print them.

    ``read`` gets the API client and the tenant's slug. ``write`` gets the wanted labels and the
    ETag that was read too.

    Raises:
        WaypostError: the request was refused, for example because somebody else changed it.
    """
    changed({}, words)  # refuses a wrong word before anything is requested
    api, slug = login_store.connect(tenant)
    present = read(api, slug)
    row = calls.body(api, present)
    wanted = changed(row["labels"], words)
    if wanted != row["labels"]:
        row = calls.body(api, write(api, slug, wanted, calls.tag(present)))
    if form.is_document:
        output.show_document(row, form)
    else:
        output.show_text(f"labels: {text(row['labels'])}")


def shown(row: Json) -> Json:
    """Return a row of a list as a table shows it. A server older than labels sends none."""
    return {**row, "labels": text(row.get("labels") or {})}
