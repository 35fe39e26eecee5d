"""Shows what a form does as a ``waypost`` command, as YAML and as a call of the API. Pure.

The values are those of the form. A value that the form does not have yet is a word in capitals.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import yaml
from django.conf import settings
from django.utils.dates import WEEKDAYS

from controlplane.core.address_types import SETTING
from tenants import dead_letters
from tenants.actions.api_tokens import TokenScope
from tenants.models import Address, AddressSpace, AddressType
from tenants.rollouts import Window

# No URL can end with these names of addresses.
_DOTS = (".", "..")


@dataclass(frozen=True)
class Equivalent:
    """A command, a file and an API call that do the same as a form or a button of the portal.

    ``command`` are the words after ``waypost``; empty if there is no such command. ``path`` follows
    ``/api/v1``. ``body`` is None for a request without one. ``file`` is what a file that describes
    the tenant says; None for what such a file does not say, such as a deletion.
    """

    command: Sequence[str]
    method: str
    path: str
    body: Mapping[str, Any] | None = None
    file: Mapping[str, Any] | None = None

    @property
    def file_text(self) -> str:
        """The file as YAML, '' without one."""
        return yaml.safe_dump(self.file, sort_keys=False, allow_unicode=True) if self.file else ""

    @property
    def command_line(self) -> str:
        return shlex.join(["waypost", *self.command]) if self.command else ""

    @property
    def api_call(self) -> str:
        """The call as a line for a shell, with the API token in the variable ``WAYPOST_TOKEN``."""
        lines = [
            f"curl -X {self.method} {shlex.quote(f'{settings.PUBLIC_URL}/api/v1{self.path}')}",
            '-H "Authorization: Bearer $WAYPOST_TOKEN"',
        ]
        if self.method in ("PUT", "PATCH"):
            lines.append("-H 'If-Match: *'")  # whatever state the resource is in
        if self.body is not None:
            text = json.dumps(self.body, ensure_ascii=False)
            lines += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(text)}"]
        return " \\\n  ".join(lines)


def create_space(
    tenant: str, name: str, type: str, plan: str, *, dead_letter_plan: str | None
) -> Equivalent:
    """Return the equivalent of creating a space.

    ``dead_letter_plan`` is the plan of the address for dead letters that is created with it. It is
    '' if the form wants none, None if the tenant's plan includes none.
    """
    name = name or "NAME"
    command = ["spaces", "create", name, "--type", type, "--plan", plan, "--tenant", tenant]
    body: dict[str, Any] = {"name": name, "type": type, "plan": plan}
    listed = dict(body)
    if dead_letter_plan == "":
        command.append("--no-dead-letters")
        body["dead_letters"] = False
    elif dead_letter_plan:
        # A space that a file creates has the addresses only that the file names.
        kept = {"address": dead_letters.DEFAULT_NAME, "type": AddressType.DEADLETTER.value}
        listed["addresses"] = [{**kept, "plan": dead_letter_plan}]
    file = _file(tenant, listed)
    return Equivalent(command, "POST", f"/tenants/{tenant}/address-spaces", body, file)


def change_space_plan(tenant: str, space: str, plan: str, *, type: str) -> Equivalent:
    """Return the equivalent of moving a space of ``type`` to another plan."""
    command = ["spaces", "change-plan", space, plan, "--tenant", tenant]
    file = _file(tenant, {"name": space, "type": type, "plan": plan})
    return Equivalent(command, "PATCH", _space(tenant, space), {"plan": plan}, file)


def delete_space(tenant: str, space: str, *, keeps_volumes: bool) -> Equivalent:
    """Return the equivalent of deleting a space, with its volumes unless ``keeps_volumes``."""
    command = ["spaces", "delete", space, *(["--keep-volumes"] if keeps_volumes else [])]
    path = f"{_space(tenant, space)}{'?volumes=keep' if keeps_volumes else ''}"
    return Equivalent([*command, "--tenant", tenant], "DELETE", path)


def create_address(
    tenant: str,
    space: AddressSpace,
    address: str,
    given: Mapping[str, Any],
    *,
    type: str,
    plan: str,
) -> Equivalent:
    """Return the equivalent of creating an address.

    ``given`` has settings by their names in the API.
    """
    address = address or "ADDRESS"
    command = ["addresses", "create", space.name, address, "--type", type, "--plan", plan]
    command += [*_options(given), "--tenant", tenant]
    body = {"address": address, "type": type, "plan": plan, **given}
    file = _file(tenant, {"name": space.name, "type": space.type, "addresses": [body]})
    return Equivalent(command, "POST", f"{_space(tenant, space.name)}/addresses", body, file)


def change_address(tenant: str, row: Address, given: Mapping[str, Any]) -> Equivalent | None:
    """Return the equivalent of giving an address these settings, and no others of its own.

    None if no URL can end with the address's name.
    """
    if row.address in _DOTS:
        return None
    # The command keeps settings that it does not name. No form can clear a fixed setting.
    cleared = [
        name for name in row.settings.given() if name not in given and not SETTING[name].is_fixed
    ]
    changes = _options(given)
    changes += [word for name in cleared for word in ("--reset", name.replace("_", "-"))]
    command = ["addresses", "update", row.space.name, row.address, *changes, "--tenant", tenant]
    spec = {"type": row.type, "plan": row.address_plan.key, **given}
    path = f"{_space(tenant, row.space.name)}/addresses/{_encoded(row.address)}"
    listed = [{"address": row.address, **spec}]
    file = _file(tenant, {"name": row.space.name, "type": row.space.type, "addresses": listed})
    # Without a change, the command would have nothing to do.
    return Equivalent(command if changes else [], "PUT", path, spec, file)


def change_labels(
    tenant: str, row: AddressSpace | Address, labels: Mapping[str, str]
) -> Equivalent | None:
    """Return the equivalent of giving a space or an address these labels, and no others.

    None if no URL can end with the address's name.
    """
    words = [f"{key}={value}" for key, value in labels.items()]
    words += [f"{key}-" for key in row.labels if key not in labels]
    if isinstance(row, AddressSpace):
        command = ["spaces", "label", row.name]
        path = _space(tenant, row.name)
        file = _file(tenant, {"name": row.name, "type": row.type, "labels": dict(labels)})
    elif row.address in _DOTS:
        return None
    else:
        command = ["addresses", "label", row.space.name, row.address]
        path = f"{_space(tenant, row.space.name)}/addresses/{_encoded(row.address)}"
        # A file that names an address says all of its settings.
        entry = {"address": row.address, "type": row.type, "plan": row.address_plan.key}
        listed = [{**entry, "labels": dict(labels), **row.settings.given()}]
        file = _file(tenant, {"name": row.space.name, "type": row.space.type, "addresses": listed})
    done = [*command, *words, "--tenant", tenant] if words else []
    return Equivalent(done, "PATCH", path, {"labels": dict(labels)}, file)


def create_alarm(tenant: str, row: Address, metric: str, limits: Mapping[str, int]) -> Equivalent:
    """Return the equivalent of creating an alarm; ``limits`` by their names in the API."""
    words = [str(limits["threshold"]), "for", str(limits["for_seconds"])]
    if "clear_below" in limits:
        words += ["below", str(limits["clear_below"])]
    command = ["alarms", "create", row.space.name, row.address, metric, *words]
    body = {"address": row.address, "metric": metric, **limits}
    path = f"{_space(tenant, row.space.name)}/alarms"
    file = _file(tenant, {"name": row.space.name, "type": row.space.type, "alarms": [body]})
    return Equivalent([*command, "--tenant", tenant], "POST", path, body, file)


def delete_address(tenant: str, space: str, address: str) -> Equivalent | None:
    """Return the equivalent of deleting an address; None if no URL can end with its name."""
    if address in _DOTS:
        return None
    path = f"{_space(tenant, space)}/addresses/{_encoded(address)}"
    return Equivalent(["addresses", "delete", space, address, "--tenant", tenant], "DELETE", path)


def create_user(
    tenant: str, space: AddressSpace, name: str, permissions: Sequence[Mapping[str, Sequence[str]]]
) -> Equivalent:
    """Return the equivalent of creating a messaging user.

    The command generates a password and shows it.

    There is no command and no file for a user who may do nothing: without --send and --recv the
    command would allow everything.
    """
    name = name or "NAME"
    command = ["users", "create", space.name, name]
    for permission in permissions:
        for operation in permission["operations"]:
            for pattern in permission["addresses"]:
                command += [f"--{operation}", pattern]
    is_allowed = all(entry["operations"] and entry["addresses"] for entry in permissions)
    body = {"name": name, "password": "PASSWORD", "permissions": list(permissions)}
    path = f"{_space(tenant, space.name)}/users"
    # A file holds no password: the command generates one.
    listed = [{"name": name, "permissions": [dict(one) for one in permissions]}]
    file = _file(tenant, {"name": space.name, "type": space.type, "users": listed})
    if not is_allowed:
        return Equivalent([], "POST", path, body)
    return Equivalent([*command, "--tenant", tenant], "POST", path, body, file)


def new_password(
    tenant: str, space: str, name: str, permissions: Sequence[Mapping[str, Sequence[str]]]
) -> Equivalent:
    """Return the equivalent of setting a messaging user's password; its permissions stay."""
    body = {"password": "PASSWORD", "permissions": list(permissions)}
    path = f"{_space(tenant, space)}/users/{_encoded(name)}"
    return Equivalent(["users", "password", space, name, "--tenant", tenant], "PUT", path, body)


def revoke_user(tenant: str, space: str, name: str) -> Equivalent:
    """Return the equivalent of revoking a messaging user."""
    path = f"{_space(tenant, space)}/users/{_encoded(name)}"
    return Equivalent(["users", "revoke", space, name, "--tenant", tenant], "DELETE", path)


def change_plan(tenant: str, plan: str) -> Equivalent:
    """Return the equivalent of moving an organization to another plan; there is no command."""
    return Equivalent([], "PUT", f"/tenants/{tenant}/plan-subscription", {"plan": plan})


def set_windows(tenant: str, windows: Sequence[Window], added: Window | None = None) -> Equivalent:
    """Return the equivalent of giving an organization these maintenance windows and ``added``.

    The command adds the window ``added``; without this window there is no command. ``added``
    replaces a window that begins at the same time.
    """
    begin = added and (added.weekday, added.starts_at)
    wanted = [window for window in windows if (window.weekday, window.starts_at) != begin]
    wanted += [added] if added else []
    listed = [
        {"weekday": w.weekday, "starts_at": f"{w.starts_at:%H:%M}", "minutes": w.minutes}
        for w in wanted
    ]
    path = f"/tenants/{tenant}/maintenance-windows"
    days = [str(WEEKDAYS[window.weekday]).lower() for window in wanted]
    named = [{**one, "weekday": day} for one, day in zip(listed, days, strict=True)]
    file = {"tenant": tenant, "maintenance_windows": named}
    words = [str(value) for value in named[-1].values()] if added else []
    command = ["windows", "add", *words, "--tenant", tenant] if added else []
    return Equivalent(command, "PUT", path, {"windows": listed}, file)


def invite(tenant: str, email: str, role: str) -> Equivalent:
    """Return the equivalent of inviting a person."""
    email = email or "EMAIL"
    command = ["invitations", "send", email, "--role", role, "--tenant", tenant]
    return Equivalent(
        command, "POST", f"/tenants/{tenant}/invitations", {"email": email, "role": role}
    )


def issue_token(
    tenant: str, name: str, role: str, days: int, limits: TokenScope, now: datetime
) -> Equivalent:
    """Return the equivalent of issuing an API token that ends ``days`` after ``now`` (0: never)."""
    name, expires = name or "NAME", f"{days}d" if days else "never"
    command = ["tokens", "issue", name, "--role", role, "--expires", expires]
    for limit in (*(f"space:{space}" for space in limits.spaces), *limits.permissions):
        command += ["--only", limit]
    end = (now + timedelta(days=days)).isoformat(timespec="seconds") if days else None
    body: dict[str, Any] = {"name": name, "role": role, "expires_at": end}
    body |= {"spaces": list(limits.spaces), "permissions": list(limits.permissions)}
    path = f"/tenants/{tenant}/tokens"
    limited = {"spaces": list(limits.spaces), "permissions": list(limits.permissions)}
    given = {part: names for part, names in limited.items() if names}
    listed = [{"name": name, "role": role, **given, "expires": expires}]
    file = {"tenant": tenant, "tokens": listed}
    return Equivalent([*command, "--tenant", tenant], "POST", path, body, file)


def replace_billing(tenant: str, details: Mapping[str, str]) -> Equivalent:
    """Return the equivalent of replacing the billing details; there is no command.

    ``details`` has them by their names in the API.
    """
    return Equivalent([], "PUT", f"/tenants/{tenant}/billing-details", details)


def create_channel(tenant: str, name: str, kind: str, url: str, kinds: Sequence[str]) -> Equivalent:
    """Return the equivalent of creating a channel for the events ``kinds``; none means all."""
    name, shown = name or "NAME", url or "URL"
    command = ["notifications", "add-channel", name, shown]
    command += [word for event in kinds for word in ("--event", event)]
    body = {"name": name, "kind": kind, "url": shown, "kinds": list(kinds)}
    path = f"/tenants/{tenant}/notification-channels"
    # The command knows the kind by the URL.
    is_same = not url or (kind == "webhook") == url.startswith(("https://", "http://"))
    return Equivalent([*command, "--tenant", tenant] if is_same else [], "POST", path, body)


def change_channel(tenant: str, channel: str, changes: Mapping[str, Any]) -> Equivalent:
    """Return the equivalent of changing a channel; ``changes`` by their names in the API."""
    path = f"/tenants/{tenant}/notification-channels/{_encoded(channel)}"
    return Equivalent([], "PATCH", path, changes)


def delete_channel(tenant: str, channel: str) -> Equivalent:
    """Return the equivalent of deleting a channel."""
    path = f"/tenants/{tenant}/notification-channels/{_encoded(channel)}"
    command = ["notifications", "remove-channel", channel, "--tenant", tenant]
    return Equivalent(command, "DELETE", path)


def send_message(
    tenant: str, row: Address, body: str, properties: Mapping[str, Any], *, durable: bool
) -> Equivalent:
    """Return the equivalent of sending a test message to an address."""
    command = ["messages", "send", row.space.name, row.address, "--body", body]
    for name, value in properties.items():
        command += ["--property", f"{name}={json.dumps(value, ensure_ascii=False)}"]
    values = {"address": row.address, "body": body, "properties": dict(properties)}
    path = f"{_space(tenant, row.space.name)}/messages/send"
    # The command sends durable messages only.
    words = [*command, "--tenant", tenant] if durable else []
    return Equivalent(words, "POST", path, {**values, "durable": durable})


def change_messages(
    tenant: str, row: Address, verb: str, values: Mapping[str, Any] | None = None
) -> Equivalent:
    """Return the equivalent of purging, deleting, moving or resending messages of an address.

    ``values``: the fields of the API's request except the address.
    """
    given = values or {}
    command = ["messages", verb, row.space.name, row.address]
    command += [given["to"]] if "to" in given else []
    command += [word for one in given.get("messages") or [] for word in ("--message", one)]
    command += ["--rate", str(given["rate"])] if given.get("rate") else []
    path = f"{_space(tenant, row.space.name)}/messages/{verb}"
    body = {"address": row.address, **given}
    return Equivalent([*command, "--tenant", tenant], "POST", path, body)


def close_connections(tenant: str, space: str, ids: Sequence[str], user: str) -> Equivalent:
    """Return the equivalent of closing these connections, or all of a messaging user."""
    chosen = ["--user", user] if user else list(ids)
    command = ["connections", "close", space, *chosen, "--tenant", tenant]
    body = {"user": user} if user else {"ids": list(ids)}
    return Equivalent(command, "POST", f"{_space(tenant, space)}/connections/close", body)


def _file(tenant: str, space: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"tenant": tenant, "spaces": [dict(space)]}


def _options(given: Mapping[str, Any]) -> list[str]:
    """Return settings of an address as options of a command."""
    return [
        word
        for name, value in given.items()
        for word in (f"--{name.replace('_', '-')}", str(value))
    ]


def _space(tenant: str, space: str) -> str:
    return f"/tenants/{tenant}/address-spaces/{_encoded(space)}"


def _encoded(name: str) -> str:
    """Return the name for a URL path. Only an address may have slashes, and its name is last."""
    # Not by ``rest_client``, which needs httpx: the portal runs without the packages of the CLI.
    return quote(name, safe="")
