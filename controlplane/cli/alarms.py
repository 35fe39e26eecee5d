"""`waypost alarms`: alarms of addresses."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.names import AddressName, SpaceName
from controlplane.cli.options import Tenant
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import address_spaces
from controlplane.core.errors import Invalid
from controlplane.rest_client import Api, Json

app = typer.Typer(no_args_is_help=True, help="Alarms of addresses: list, create, update, delete.")
_COLUMNS = [
    "id",
    "address",
    "metric",
    "threshold",
    "for_seconds",
    "clear_below",
    "raised_at",
    "last_value",
]
Address = Annotated[str, typer.Option("--address", "-a", help="Only those of this address.")]
Limits = Annotated[
    list[str],
    # Without the backslashes rich would take what is in brackets for markup, and leave it out.
    typer.Argument(
        help="THRESHOLD \\[for SECONDS] \\[below VALUE], such as: 1000 for 60 below 800. "
        "SECONDS is 0 if you leave it out."
    ),
]
# What a person writes -> the field of the API.
_WORDS = {"for": "for_seconds", "below": "clear_below"}


@app.command("list")
@slow.change
def list_alarms(space: SpaceName, address: Address = "", *, how: listing.TenantRows) -> None:
    """List the alarms of a space, or of one address, with their state."""
    calls.named(space)

    def read(api: Api, tenant: str) -> Iterator[Json]:
        page = partial(
            address_spaces.list_alarms.sync_detailed,
            tenant,
            space,
            client=api.client,
            address=calls.given(address),
        )
        return calls.rows(api, page)

    listing.show(how, read, _COLUMNS)


@app.command()
def create(
    space: SpaceName,
    address: AddressName,
    metric: Annotated[str, typer.Argument(help="depth: messages; age: seconds of the oldest.")],
    limits: Limits,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Set an alarm of an address, such as: create main orders depth 1000 for 60."""
    api, tenant = login_store.connect(tenant)
    calls.named(space)
    body = {"address": address, "metric": metric, **parsed(limits)}
    answer = address_spaces.create_alarm.sync_detailed(
        tenant,
        space,
        client=api.client,
        body=models.AlarmCreateRequest.from_dict(body),
        idempotency_key=calls.new_key(),
    )
    output.show_one(calls.body(api, answer), form)


@app.command()
def update(
    space: SpaceName, alarm: str, limits: Limits, tenant: Tenant = None, form: Output = Format.TABLE
) -> None:
    """Replace the limits of an alarm."""
    api, tenant = login_store.connect(tenant)
    found = address_spaces.get_alarm.sync_detailed(
        tenant, calls.named(space), calls.named(alarm), client=api.client
    )
    answer = address_spaces.replace_limits_alarm.sync_detailed(
        tenant,
        space,
        alarm,
        client=api.client,
        body=models.LimitsRequest.from_dict(parsed(limits)),
        if_match=calls.tag(found),
    )
    output.show_one(calls.body(api, answer), form)


@app.command()
def delete(space: SpaceName, alarm: str, tenant: Tenant = None) -> None:
    """Delete an alarm by its id."""
    api, tenant = login_store.connect(tenant)
    address_spaces.delete_alarm.sync_detailed(
        tenant, calls.named(space), calls.named(alarm), client=api.client
    )
    output.say(f"deleted {alarm}")


def parsed(limits: list[str]) -> dict[str, int]:
    """Return the limits of an alarm from words: ``1000 for 60 below 800``.

    Raises:
        Invalid: the words have another form.
    """
    # The first number has no word before it, and each other one has.
    values = dict(zip(["threshold", *limits[1::2]], [limits[0], *limits[2::2]], strict=False))
    # The threshold, then pairs of a word and a number. A word without a number, or one that comes
    # twice, is refused here, with a hint.
    is_whole = len(limits) == 2 * len(values) - 1 and all(map(str.isdecimal, values.values()))
    if not is_whole or not values.keys() <= {"threshold", *_WORDS}:
        raise Invalid("Write the limits like: 1000 for 60 below 800.", code="alarm.invalid")
    return {_WORDS.get(word, word): int(value) for word, value in values.items()}
