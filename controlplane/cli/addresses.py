"""`waypost addresses`: queues, topics and direct addresses of a space."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, make_dataclass
from functools import partial
from typing import Annotated, Any

import typer

from controlplane.cli import calls, cells, labels, listing, login_store, output, plans, slow, spaces
from controlplane.cli.labels import Labels
from controlplane.cli.names import AddressName, SpaceName
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import address_spaces
from controlplane.client.models.get_history_address_span import check_get_history_address_span
from controlplane.client.types import Response
from controlplane.core.address_types import BY_SLUG, SETTING, SETTINGS, AddressSettings, Setting
from controlplane.core.errors import Invalid
from controlplane.core.setting_values import Whole
from controlplane.rest_client import Api, Json

app = typer.Typer(
    no_args_is_help=True,
    help="Addresses of a space: list, create, show, history, update, label, delete.",
)
# The columns of the newest reading in a list.
_LIVE = ("depth", "in_per_second", "out_per_second", "consumers", "as_of")
# For the help text: without the types that no space offers.
_TYPES = ", ".join(row.slug for row in BY_SLUG.values() if row.spaces)
Plan = Annotated[
    str, typer.Option(help="An address plan; default: the cheapest for the type in this space.")
]


def setting_option(setting: Setting) -> Any:
    """Return the annotation of a setting's option for typer: its type and its help text.

    The option's value is None if the command line does not give the option.
    """
    number = setting.value
    if isinstance(number, Whole):
        words = f"{setting.help_text} {number.range_words()} Default: the plan's value."
        return Annotated[int | None, typer.Option(min=0, help=words)]
    return Annotated[str | None, typer.Option(help=setting.help_text)]


# The type of a parameter that ``slow.change`` replaces by one option for each setting. Only the
# generated dataclass behind ``Any`` matters.
Chosen = Annotated[
    Any,
    make_dataclass(
        "Chosen", [(setting.name, setting_option(setting), None) for setting in SETTINGS]
    ),
]


def given(chosen: Any) -> dict[str, int | str | None]:
    """Return {name in the API: value} of the settings that the command line gives.

    ``chosen`` is the dataclass behind ``Chosen``, with None for each option that is not given.
    """
    return {name: value for name, value in asdict(chosen).items() if value is not None}


def setting_named(option: str) -> str:
    """Return a setting's name in the API, from the name of its option or from that API name.

    For example ``max_bytes`` for ``--max-bytes``, ``max-bytes`` or ``max_bytes``.

    Raises:
        Invalid: ``setting.unknown``: there is no such setting.
    """
    name = option.removeprefix("--").replace("-", "_")
    if name not in SETTING:
        known = ", ".join(setting.replace("_", "-") for setting in SETTING)
        raise Invalid(f"{option} is no setting of addresses: {known}.", code="setting.unknown")
    return name


@dataclass(frozen=True)
class Kind:
    """The options of a new address that are no settings."""

    plan: Plan = ""
    type: Annotated[str, typer.Option(help=f"One of: {_TYPES}.")] = "queue"
    labels: Labels = None


@app.command("list")
@slow.change
def list_addresses(space: SpaceName, *, how: listing.TenantRows) -> None:
    """List the addresses of a space, with the newest reading of each."""
    columns = ["address", "type", "plan", "phase", "labels", *_LIVE]
    calls.named(space)

    def read(api: Api, tenant: str) -> Iterator[Json]:
        page = partial(
            address_spaces.list_addresses.sync_detailed, tenant, space, client=api.client
        )
        return calls.rows(api, page)

    listing.show(how, read, columns, _with_reading)


def _with_reading(row: Json) -> Json:
    """Return a row of the list as a table shows it: with labels and the columns ``_LIVE``."""
    live = row.get("live") or {}  # null before the first reading
    reading = {name: live.get(name) for name in _LIVE}
    # A server of an older version does not say whether a reading is stale.
    if live.get("is_stale"):
        # The old rates say nothing about the present. Depth and consumers are the last known.
        reading |= {"in_per_second": "not known", "out_per_second": "not known"}
        reading["as_of"] = f"{cells.instant(live['as_of'])} (old)"
    return {**labels.shown(row), **reading}


@app.command()
@slow.change
def create(
    space: SpaceName,
    address: str,
    *,
    kind: Kind,
    settings: Chosen,
    how: slow.How,
) -> None:
    """Create an address and wait until a message goes through it."""
    # An omitted setting is not sent, so that the plan's value applies.
    named = {"address": address, "type": kind.type, **labels.given(kind.labels)}
    wanted = {**named, **given(settings)}

    def post(api: Api, tenant: str) -> Json:
        # Read only here: the cheapest plan depends on the type of the space.
        chosen = kind.plan
        if not chosen:
            space_type = spaces.get(api, tenant, space)["type"]
            chosen = plans.default_address_plan(api, tenant, space_type, kind.type)
        answer = address_spaces.create_address.sync_detailed(
            tenant,
            calls.named(space),
            client=api.client,
            body=models.AddressCreateRequest.from_dict({**wanted, "plan": chosen}),
            idempotency_key=calls.new_key(),
        )
        return calls.body(api, answer)

    slow.follow(f"creating address {address}", how, post)


@app.command()
def show(
    space: SpaceName,
    address: AddressName,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again every few seconds until Ctrl-C.")
    ] = False,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show an address: phase, newest reading, settings, conditions."""
    api, tenant = login_store.connect(tenant)

    def read() -> Json:
        return calls.body(api, _answer(api, tenant, space, address))

    if watch:
        output.watch(read, form)
    else:
        output.show_one(read(), form)


@app.command()
def history(
    space: SpaceName,
    address: AddressName,
    span: Annotated[
        str, typer.Option(help="1h or 24h (by minute), 7d or 30d (by quarter of an hour).")
    ] = "1h",
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show the history of an address: messages, depth, bytes and receivers in each step."""
    api, tenant = login_store.connect(tenant)
    found = address_spaces.get_history_address.sync_detailed(
        tenant,
        calls.named(space),
        calls.named_address(address),
        client=api.client,
        span=check_get_history_address_span(span),
    )
    answer = calls.body(api, found)
    if form.is_document:
        output.show_document(answer, form)
    else:
        # The columns are the fields of a point, so a newer server may have more.
        points = answer["points"]  # never empty: the last point is the step that has not ended
        output.show_rows(points, list(points[0]), form)


@app.command()
@slow.change
def update(
    space: SpaceName,
    address: AddressName,
    reset: Annotated[
        list[str] | None,
        typer.Option(help="A setting that gets the plan's value, such as max-bytes; repeatable."),
    ] = None,
    *,
    settings: Chosen,
    how: slow.How,
) -> None:
    """Change settings of an address; those that are not given stay as they are."""
    unset = asdict(AddressSettings())
    changes = {name: unset[name] for name in map(setting_named, reset or [])} | given(settings)

    def put(api: Api, tenant: str) -> Json:
        def write(present: Json, tag: str) -> Response[Any]:
            # ``if``: an older server does not know every setting.
            kept = {name: present[name] for name in ("type", "plan", *SETTING) if name in present}
            return address_spaces.create_or_change_address.sync_detailed(
                tenant,
                space,
                address,
                client=api.client,
                body=models.AddressSpecRequest.from_dict({**kept, **changes}),
                if_match=tag,
            )

        # PUT replaces all settings. A change that somebody else makes in between is kept.
        return calls.change(api, lambda: _answer(api, tenant, space, address), write)

    slow.follow(f"changing address {address}", how, put)


@app.command()
def label(
    space: SpaceName,
    address: AddressName,
    changes: labels.Changes,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Set or remove labels of an address, such as team=shop."""
    calls.named(space)
    calls.named_address(address)

    def write(api: Api, slug: str, wanted: dict[str, str], tag: str) -> Response[Any]:
        body = models.PatchedAddressLabelsRequest.from_dict({"labels": wanted})
        return address_spaces.change_address_labels.sync_detailed(
            slug, space, address, client=api.client, body=body, if_match=tag
        )

    # ``labels.change`` passes the API client and the tenant.
    read = partial(_answer, space=space, address=address)
    labels.change(read, write, changes, tenant, form)


@app.command()
@slow.change
def delete(
    space: SpaceName,
    address: AddressName,
    yes: Yes = False,
    *,
    how: slow.How,
) -> None:
    """Delete an address with its stored messages; its usage until then is still billed."""
    calls.named(space)
    calls.named_address(address)
    if not yes:
        output.confirm(f"Delete address {address} and every message in it?")

    def remove(api: Api, tenant: str) -> Json:
        answer = address_spaces.delete_address.sync_detailed(
            tenant, space, address, client=api.client
        )
        return calls.body(api, answer)

    slow.follow(f"deleting address {address}", how, remove)


def _answer(api: Api, tenant: str, space: str, address: str) -> "Response[models.Address]":
    return address_spaces.get_address.sync_detailed(
        tenant, calls.named(space), calls.named_address(address), client=api.client
    )
