"""A slow change over the API: the options that all of them share, and how one is followed."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from typing import Any

from controlplane.cli import login_store, output
from controlplane.cli.options import NoWait, Tenant
from controlplane.cli.output import Format, Output
from controlplane.rest_client import Api, Json


@dataclass(frozen=True)
class How:
    """For which tenant a change is asked, whether to wait for it, and how to answer."""

    tenant: Tenant = None
    no_wait: NoWait = False
    form: Output = Format.TABLE


def change(command: Callable[..., None]) -> Callable[..., None]:
    """Return ``command(…, *, how: How)`` as one that takes the options of ``How`` one by one.

    So it does with each parameter that is a dataclass, for commands with many options.
    """
    taken = inspect.signature(command).parameters.values()
    groups: dict[str, Callable[..., Any]] = {
        each.name: each.annotation for each in taken if bool(is_dataclass(each.annotation))
    }

    @functools.wraps(command)
    def flat(**given: Any) -> None:
        for name, group in groups.items():
            options = inspect.signature(group).parameters
            given[name] = group(**{option: given.pop(option) for option in options})
        command(**given)

    own = [each for each in taken if each.name not in groups]
    grouped = [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for group in groups.values()
        for each in inspect.signature(group).parameters.values()
    ]
    flat.__signature__ = inspect.Signature([*own, *grouped])  # type: ignore[attr-defined]
    return flat


def follow(
    title: str,
    how: How,
    ask: Callable[[Api, str], Json],
    *,
    done: str = "",
    once: Mapping[str, str] | None = None,
) -> None:
    """Send ``ask(api, path of the tenant)``, show its progress until it ends, and print it.

    ``done``: what its success means, in words. ``once``: what only this answer holds, such as a
    generated password.

    Raises:
        WaypostError: the request was refused, or the operation failed or is slow.
    """
    api, tenant = login_store.connect(how.tenant)
    operation = ask(api, f"/tenants/{tenant}")
    if not how.no_wait:
        with output.progress(title) as progress:
            operation = api.wait(tenant, operation, progress=progress)
    if how.form is Format.JSON:
        output.show_json({**operation, **(once or {})})
    else:
        is_done = operation["state"] == "Succeeded"
        state = (done or "done") if is_done else "accepted"
        output.show_text(f"{title}: {state} ({operation['id']})")
        for name, value in (once or {}).items():
            output.show_text(f"{name} (shown once): {value}")
