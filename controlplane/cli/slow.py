"""Changes that the API answers with an operation: the commands' common options, and the wait."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any, get_args

from controlplane.cli import login_store, output
from controlplane.cli.options import NoWait, Tenant
from controlplane.cli.output import Format, Output
from controlplane.core import restarts
from controlplane.rest_client import Api, Json


@dataclass(frozen=True)
class How:
    """The common options of a command that changes something, for ``follow``.

    They are the tenant, whether to skip the wait, and the output format. ``change`` adds them to a
    command.
    """

    tenant: Tenant = None
    no_wait: NoWait = False
    form: Output = Format.TABLE


@dataclass(frozen=True)
class StaffHow:
    """The common options of a staff command that starts something, for ``follow_staff``."""

    no_wait: NoWait = False
    form: Output = Format.TABLE


def change(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command: replace each parameter of a dataclass type by options for its fields.

    For example, ``command(…, *, how: How)`` takes ``--tenant``, ``--no-wait`` and ``--output``, and
    gets a ``How``.
    """
    parameters = inspect.signature(command).parameters.values()
    groups: dict[str, Callable[..., Any]] = {
        parameter.name: kind
        for parameter in parameters
        # mypy accepts no generated dataclass as a type, so one is metadata: Annotated[Any, kind].
        for kind in (get_args(parameter.annotation) or [parameter.annotation])
        if isinstance(kind, type) and is_dataclass(kind)
    }

    @functools.wraps(command)
    def flat(**given: Any) -> None:
        for name, group in groups.items():
            options = inspect.signature(group).parameters
            given[name] = group(**{option: given.pop(option) for option in options})
        command(**given)

    own = [parameter for parameter in parameters if parameter.name not in groups]
    grouped = [
        # Only among these may a field without a default follow parameters with one.
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for group in groups.values()
        for parameter in inspect.signature(group).parameters.values()
    ]
    # typer derives the options from this signature.
    flat.__signature__ = inspect.Signature([*own, *grouped])  # type: ignore[attr-defined]
    return flat


def follow(
    title: str,
    how: How,
    ask: Callable[[Api, str], Json],
    *,
    done: str | Callable[[Json], str] = "",
    once: Mapping[str, str] | None = None,
) -> Json:
    """Request a change with ``ask``, wait until its operation has succeeded, and print the result.

    * ``title``: names the change in the output, such as ``creating space orders``.
    * ``ask``: gets the API client and the tenant's slug. It returns an operation, or the resource
      itself if there was nothing to change.
    * ``how``: with ``no_wait``, the operation is printed at once.
    * ``done``: the text for success, or what makes it of the operation; without one the command
      prints "done".
    * ``once``: values that only this output shows, such as a generated password.

    Returns what was printed: the operation, or the resource.

    Raises:
        WaypostError: the request was refused, or the operation failed or took too long.
    """
    api, tenant = login_store.connect(how.tenant)
    operation = ask(api, tenant)
    if "state" not in operation:  # the resource itself: it is as requested already
        if how.form.is_document:
            output.show_document(operation, how.form)
        else:
            output.show_text(f"{title}: nothing to change")
        return operation
    if not how.no_wait:  # ends with an error if the operation fails
        with output.progress(title) as progress:
            operation = api.wait(tenant, operation, progress=progress)
    _show(title, how.form, operation, done, once or {})
    return operation


def follow_staff(
    title: str, how: StaffHow, ask: Callable[[Api], Json], *, below: str, done: str = ""
) -> None:
    """Do as ``follow`` for staff, who cannot read the operations of a tenant at their own path.

    ``below`` is the path of the API below which staff read the operation by its id.

    Raises:
        WaypostError: as ``follow``.
    """
    api = login_store.connect_staff()
    operation = ask(api)
    if not how.no_wait:
        with output.progress(title) as progress:
            operation = api.wait_at(f"{below}/{operation['id']}", progress=progress)
    _show(title, how.form, operation, done, {})


def _show(
    title: str,
    form: Format,
    operation: Json,
    done: str | Callable[[Json], str],
    once: Mapping[str, str],
) -> None:
    if form.is_document:
        output.show_document({**operation, **once}, form)
        return
    is_done = operation["state"] == "Succeeded"
    on_success = done(operation) if callable(done) else done
    state = (on_success or "done") if is_done else "accepted"
    output.show_text(f"{title}: {state} ({operation['id']})")
    # A server of an older version does not say what restarts.
    if restarting := restarts.sentence(operation.get("restarts")):
        output.show_text(restarting)
    for name, value in once.items():
        output.show_text(f"{name} (shown once): {value}")
