"""`waypost windows`: when rollouts may restart brokers and routers of the tenant."""

import re
from collections.abc import Callable
from typing import Annotated, Any

import typer

from controlplane.cli import calls, listing, login_store, output, slow
from controlplane.cli.options import Tenant, Yes
from controlplane.cli.output import Format, Output
from controlplane.client import models
from controlplane.client.api import maintenance_windows
from controlplane.client.types import Response
from controlplane.core.errors import Invalid
from controlplane.rest_client import Api, Json

app = typer.Typer(
    no_args_is_help=True, help="Maintenance windows of the tenant, in UTC: list, add, remove."
)
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COLUMNS = ["weekday", "starts_at", "minutes"]
Day = Annotated[str, typer.Argument(help="A day of the week, such as sunday.")]
Start = Annotated[str, typer.Argument(help="When it begins, such as 02:00, in UTC.")]


@app.command("list")
@slow.change
def list_windows(*, how: listing.TenantRows) -> None:
    """List the maintenance windows. Without any, rollouts may restart at any time."""
    listing.show(
        how,
        lambda api, tenant: calls.body(api, _answer(api, tenant))["windows"],
        _COLUMNS,
        named,
    )


@app.command()
def add(
    day: Day,
    start: Start,
    minutes: Annotated[int, typer.Argument(min=30, help="How long it lasts.")] = 120,
    tenant: Tenant = None,
    form: Output = Format.TABLE,
) -> None:
    """Add a weekly window, such as: add sunday 02:00 120."""
    window = {"weekday": weekday(day), "starts_at": time_of_day(start), "minutes": minutes}
    # In place of a window that begins then: the API refuses two of them.
    _replace(tenant, form, lambda windows: [*without(windows, window), window])


@app.command()
def remove(
    day: Day, start: Start, yes: Yes = False, tenant: Tenant = None, form: Output = Format.TABLE
) -> None:
    """Remove the window that begins then. Without windows, restarts may come at any time."""
    window = {"weekday": weekday(day), "starts_at": time_of_day(start)}
    if not yes:
        output.confirm(f"Remove the window of {day} {start}?")
    _replace(tenant, form, lambda windows: without(windows, window))


def weekday(day: str) -> int:
    """Return the number of a day from its name or first letters; Monday is 0.

    Raises:
        Invalid: ``window.day``: it is no day, or the letters fit several days.
    """
    # ``day and``: every name begins with an empty text.
    found = [number for number, name in enumerate(DAYS) if day and name.startswith(day.lower())]
    if len(found) != 1:
        raise Invalid(f"{day!r} is no day of the week: {', '.join(DAYS)}.", code="window.day")
    return found[0]


def time_of_day(text: str) -> str:
    """Return ``HH:MM`` of a time such as ``2:00``.

    Raises:
        Invalid: ``window.time``: it is no time of a day.
    """
    parts = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", text)
    if parts is None:
        raise Invalid(f"{text!r} is no time: write it like 02:00, in UTC.", code="window.time")
    return f"{int(parts[1]):02}:{parts[2]}"


def named(window: Json) -> Json:
    """Return a window with the name of its day instead of its number."""
    return {**window, "weekday": DAYS[window["weekday"]]}


def without(windows: list[Json], window: Json) -> list[Json]:
    """Return ``windows`` without the one that begins when ``window`` does."""

    def begin(one: Json) -> tuple[int, str]:
        return one["weekday"], one["starts_at"]

    return [one for one in windows if begin(one) != begin(window)]


def _replace(tenant: str | None, form: Format, change: Callable[[list[Json]], list[Json]]) -> None:
    api, tenant = login_store.connect(tenant)

    def write(present: Json, tag: str) -> Response[Any]:
        return maintenance_windows.replace_maintenance_windows.sync_detailed(
            tenant,
            client=api.client,
            body=models.WindowsRequest.from_dict({"windows": change(present["windows"])}),
            if_match=tag,
        )

    # A PUT replaces all windows. One that somebody else adds in between is read again, and stays.
    answer = calls.change(api, lambda: _answer(api, tenant), write)
    output.show_rows([named(one) for one in answer["windows"]], _COLUMNS, form)


def _answer(api: Api, tenant: str) -> "Response[models.Windows]":
    return maintenance_windows.get_maintenance_windows.sync_detailed(tenant, client=api.client)
