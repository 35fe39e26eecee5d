"""`waypost addresses`: queues, topics and direct addresses of a space."""

from dataclasses import asdict, make_dataclass
from typing import Annotated, Any
from urllib.parse import quote

import typer

from controlplane.cli import cells, login_store, output, slow
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.core.address_types import BY_SLUG, SETTING, SETTINGS, AddressSettings, Setting
from controlplane.core.errors import Invalid
from controlplane.core.setting_values import Whole
from controlplane.rest_client import Api, Json, last_segments, segment

app = typer.Typer(
    no_args_is_help=True, help="Addresses of a space: list, create, show, history, update, delete."
)
# The columns of the newest reading in a list.
_LIVE = ("depth", "in_per_second", "out_per_second", "consumers", "as_of")
# For the help text: without the types that no space offers.
_TYPES = ", ".join(row.slug for row in BY_SLUG.values() if row.spaces)
Plan = Annotated[str, typer.Option(help="An address plan, such as brokered-small-queue.")]


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


@app.command("list")
def list_addresses(space: str, tenant: Tenant = None, form: Output = Format.TABLE) -> None:
    """List the addresses of a space, with the newest reading of each."""
    api, tenant = login_store.connect(tenant)
    rows = list(api.pages(f"/tenants/{tenant}/address-spaces/{segment(space)}/addresses"))
    if form is Format.TABLE:
        rows = [{**row, **_shown_reading(row.get("live") or {})} for row in rows]
    output.show_rows(rows, ["address", "type", "plan", "phase", *_LIVE], form)


def _shown_reading(live: Json) -> dict[str, Any]:
    """Return the columns ``_LIVE`` of one row; ``live`` is the newest reading, or empty."""
    found = {name: live.get(name) for name in _LIVE}
    # A server of an older version does not say whether a reading is stale.
    if live.get("is_stale"):
        old = {"in_per_second": "not known", "out_per_second": "not known"}
        return {**found, **old, "as_of": f"{cells.instant(live['as_of'])} (old)"}
    return found


@app.command()
@slow.change
def create(
    space: str,
    address: str,
    plan: Plan,
    type: Annotated[str, typer.Option(help=f"One of: {_TYPES}.")] = "queue",
    *,
    settings: Chosen,
    how: slow.How,
) -> None:
    """Create an address and wait until a message goes through it."""
    # An omitted setting is not sent, so that the plan's value applies.
    body = {"address": address, "type": type, "plan": plan, **given(settings)}
    slow.follow(
        f"creating address {address}",
        how,
        lambda api, tenant: api.post(f"{tenant}/address-spaces/{segment(space)}/addresses", body),
    )


@app.command()
def show(
    space: str,
    address: str,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again every few seconds until Ctrl-C.")
    ] = False,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show an address: phase, newest reading, settings, conditions."""
    api, tenant = login_store.connect(tenant)
    path = f"/tenants/{tenant}/address-spaces/{segment(space)}/addresses/{last_segments(address)}"
    if watch:
        output.watch(lambda: api.get(path), form)
    else:
        output.show_one(api.get(path), form)


@app.command()
def history(
    space: str,
    address: str,
    span: Annotated[
        str, typer.Option(help="1h or 24h (by minute), 7d or 30d (by quarter of an hour).")
    ] = "1h",
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Show the history of an address: messages, depth, bytes and receivers in each step."""
    api, tenant = login_store.connect(tenant)
    # The name of the address goes before the last segment, so no part of it may be cut off.
    path = f"/tenants/{tenant}/address-spaces/{segment(space)}/addresses/{last_segments(address)}"
    answer = api.get(f"{path}/history?span={quote(span, safe='')}")
    if form is Format.JSON:
        output.show_json(answer)
    else:
        points = answer["points"]  # never empty: the last one is still running
        output.show_rows(points, list(points[0]), form)


@app.command()
@slow.change
def update(
    space: str,
    address: str,
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
        path = f"{tenant}/address-spaces/{segment(space)}/addresses/{last_segments(address)}"
        present = api.get(path)
        # ``if``: an older server does not know every setting.
        kept = {name: present[name] for name in ("type", "plan", *SETTING) if name in present}
        # PUT replaces all settings. With the generation, the API refuses to overwrite a change that
        # somebody else has made since the GET.
        return api.put(path, {**kept, **changes}, if_generation=present["generation"])

    slow.follow(f"changing address {address}", how, put)


@app.command()
@slow.change
def delete(
    space: str,
    address: str,
    yes: Yes = False,
    *,
    how: slow.How,
) -> None:
    """Delete an address with its stored messages; its usage until then is still billed."""
    path = f"/address-spaces/{segment(space)}/addresses/{last_segments(address)}"
    if not yes:
        output.confirm(f"Delete address {address} and every message in it?")
    slow.follow(
        f"deleting address {address}", how, lambda api, tenant: api.delete(f"{tenant}{path}")
    )
